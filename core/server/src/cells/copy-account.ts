import type { Pool, Queryable } from '../platform/database/db.ts';
import { inTransaction } from '../platform/database/db.ts';
import { queryRows, statement, t, type RowOf } from '../platform/database/statement.ts';

/** Rows in one statement. A session takes about 600 bytes. */
const BATCH_ROWS = 2_000;

/** JSON as text: JavaScript's numbers would round large integers, and the source signs the text. */
const EXPORT = statement('select part, content from export_signed($1, $2)', {
  part: t.text(),
  content: t.text(),
});
type ExportedRow = RowOf<typeof EXPORT>;
/** Reads the cursor of `EXPORT`. */
const FETCH = { text: `fetch ${BATCH_ROWS} from exported`, columns: EXPORT.columns };

/**
 * Copies everything that belongs to a sealed account, in one transaction on each side: a copy is complete or absent. The
 * last row is the source's signature over all others, which the target requires.
 * `onBatch` is called after each batch.
 */
export async function copyAccount(input: {
  source: Pool;
  target: Pool;
  accountId: string;
  moveId: string;
  fromCell: string;
  onBatch: () => Promise<void>;
}): Promise<void> {
  const { accountId, moveId } = input;
  await inTransaction(input.source, async (source) => {
    await source.query('set transaction isolation level repeatable read, read only');
    const query = EXPORT.text.replace('$1', `'${accountId}'`).replace('$2', `'${moveId}'`);
    await source.query(`declare exported no scroll cursor for ${query}`);
    await inTransaction(input.target, async (target) => {
      let signature = '';
      for (;;) {
        const rows = await queryRows(source, FETCH, []);
        if (rows.length === 0) break;
        for (const [part, contents] of groupByPart(rows)) {
          if (part === 'account') {
            const values = [moveId, input.fromCell, contents[0]];
            await target.query('select begin_import($1, $2, $3)', values);
          } else if (part === 'signature') {
            signature = contents[0] ?? '';
          } else {
            const values = [accountId, moveId, part, contents];
            await target.query('select import_rows($1, $2, $3, $4)', values);
          }
        }
        await input.onBatch();
      }
      await target.query('select finish_import($1, $2, $3)', [accountId, moveId, signature]);
    });
  });
}

/** In export order: a session comes before its transactions. */
function groupByPart(rows: readonly ExportedRow[]): Map<string, string[]> {
  const parts = new Map<string, string[]>();
  for (const { part, content } of rows) {
    const contents = parts.get(part) ?? [];
    contents.push(content);
    parts.set(part, contents);
  }
  return parts;
}

const DIGEST = statement('select part, counted, digest from digest_account($1)', {
  part: t.text(),
  counted: t.number(),
  digest: t.text(),
});

/** Returns the parts that differ between the cells. */
export async function compareCopies(
  source: Queryable,
  target: Queryable,
  accountId: string,
): Promise<string[]> {
  const [here, there] = await Promise.all([digest(source, accountId), digest(target, accountId)]);
  const parts = new Set([...here.keys(), ...there.keys()]);
  return [...parts].filter((part) => here.get(part) !== there.get(part));
}

async function digest(db: Queryable, accountId: string): Promise<Map<string, string>> {
  const rows = await queryRows(db, DIGEST, [accountId]);
  return new Map(rows.map(({ part, counted, digest: sum }) => [part, `${counted}:${sum}`]));
}
