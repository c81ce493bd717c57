import { MUTANTS } from '@svc-asr/testing/ledger/ledger-mutants.ts';
import type { FaultName } from '../world/faults.ts';
import type { Mutant } from './mutant.ts';

const NODES_DIE: readonly FaultName[] = ['node-death', 'machine-death'];

/** Bugs of the ledger's own list that the simulation finds as well. They are planted in PGlite, because the model has no SQL. */
export const SQL_MUTANTS: readonly Mutant[] = [
  inSql('sql-lost-reservation-forgotten', 'a retried reservation is not looked up'),
  inSql('sql-idempotency-key-ignored', 'the idempotency key is not looked up'),
  inSql('sql-own-claim-not-recognised', 'an upgrade cannot be retried'),
  inSql('sql-credential-used-twice', 'a used credential is accepted'),
  inSql(
    'sql-second-close-charges-again',
    'a repeated close is charged again and every guard is off',
  ),
  inSql('sql-lost-close-never-ends', 'a session whose close was lost never ends', [
    'database-rollback',
  ]),
  inSql('sql-sweeper-mistakes-the-node', 'a dead node ends the streams of another one', NODES_DIE),
  inSql('sql-lease-too-long', 'a lease lasts twelve seconds', NODES_DIE),
];

function inSql(
  name: string,
  bug: string,
  faults: readonly FaultName[] = ['database-answers-lost'],
): Mutant {
  const sql = MUTANTS.find((mutant) => mutant.name === bug)?.changes;
  if (sql === undefined) throw new RangeError(`The ledger's list has no mutant: ${bug}`);
  const about = `${bug.charAt(0).toUpperCase()}${bug.slice(1)}.`;
  return { name, about, changes: [], sql, faults };
}
