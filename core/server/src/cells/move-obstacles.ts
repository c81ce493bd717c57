import { findCell } from '../accounts/cell.ts';
import type { Queryable } from '../platform/database/db.ts';
import { queryRows, statement, t } from '../platform/database/statement.ts';

const SCHEMA = statement(
  `select string_agg(name || checksum, ' ' order by name) as files from schema_migrations`,
  { files: t.nullable(t.text()) },
);
const LINK = statement('select cell_link_fingerprint($1) as fingerprint', {
  fingerprint: t.nullable(t.text()),
});
const PEPPERS_OF = statement(
  `select distinct k.pepper_id as id, coalesce(encode(p.fingerprint, 'hex'), 'unknown') as fingerprint
    from api_keys k left join cell_peppers p on p.pepper_id = k.pepper_id
    where k.account_id = $1 and k.revoked_at is null`,
  { id: t.number(), fingerprint: t.text() },
);
const FINGERPRINTS = statement(
  `select pepper_id as id, encode(fingerprint, 'hex') as fingerprint from cell_peppers`,
  { id: t.number(), fingerprint: t.text() },
);

/** Returns a reason why the move would fail, or null. Called before anything is frozen. */
export async function findObstacle(input: {
  source: Queryable;
  target: Queryable;
  accountId: string;
}): Promise<string | null> {
  const [here, there] = await Promise.all([schemaOf(input.source), schemaOf(input.target)]);
  if (here !== there) {
    return 'The cells have different schemas. Bring both to the same version with `svc-admin migrate`.';
  }
  if (!(await areLinked(input.source, input.target))) {
    return (
      'The cells share no secret, so the target cannot check what it receives. Run `svc-admin cells link` ' +
      'with the logins of both owners.'
    );
  }
  const needed = await peppersOf(input.source, input.accountId);
  const known = await fingerprints(input.target);
  const missing = needed.filter(({ id, fingerprint }) => known.get(id) !== fingerprint);
  if (missing.length === 0) return null;
  return (
    `The target cannot verify keys with pepper ${missing.map(({ id }) => id).join(', ')}. Append the source's pepper ` +
    "to the target's API_KEY_PEPPER, under the same id, and restart the target's API processes."
  );
}

/** Whether both cells have the same secret for each other. */
async function areLinked(source: Queryable, target: Queryable): Promise<boolean> {
  const [from, to] = [await findCell(source), await findCell(target)];
  const [[here], [there]] = [
    await queryRows(source, LINK, [to]),
    await queryRows(target, LINK, [from]),
  ];
  const fingerprint = here?.fingerprint ?? null;
  return fingerprint !== null && fingerprint === there?.fingerprint;
}

async function schemaOf(db: Queryable): Promise<string> {
  const [row] = await queryRows(db, SCHEMA, []);
  return row?.files ?? '';
}

/** Returns the peppers of the account's live keys. */
async function peppersOf(db: Queryable, accountId: string) {
  return queryRows(db, PEPPERS_OF, [accountId]);
}

async function fingerprints(db: Queryable): Promise<Map<number, string>> {
  const rows = await queryRows(db, FINGERPRINTS, []);
  return new Map(rows.map(({ id, fingerprint }) => [id, fingerprint]));
}
