import type { Queryable } from '../platform/database/db.ts';
import { queryRows, statement, t } from '../platform/database/statement.ts';
import type { Residence } from './move-steps.ts';

const FIND = statement('select move_state, move_id, move_cell from accounts where id = $1', {
  move_state: t.nullable(t.text<NonNullable<Residence['state']>>()),
  move_id: t.nullable(t.text()),
  move_cell: t.nullable(t.text()),
});

export async function readResidence(db: Queryable, accountId: string): Promise<Residence> {
  const [row] = await queryRows(db, FIND, [accountId]);
  if (row === undefined) return { state: 'absent', moveId: null, otherCell: null };
  return { state: row.move_state, moveId: row.move_id, otherCell: row.move_cell };
}
