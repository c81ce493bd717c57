import { inTransaction, type Pool, type Queryable } from '../platform/db.ts';
import {
  nullable,
  number,
  queryRows,
  statement,
  text,
  timestamp,
  type RowOf,
} from '../platform/statement.ts';

/** The request behind a change, as recorded in the audit log. */
export interface AuditContext {
  /** The signed-in person. Null: the database login itself. */
  readonly actorId: string | null;
  readonly requestId: string;
  /** The network address the request came from. */
  readonly source: string;
}

const LIST = statement(
  `select l.id, l.at, l.account_id, l.action,
      case when l.actor_id is null then l.login else u.email end as actor, l.target,
      l.before::text, l.after::text, s.source, l.request_id, l.imported_from, l.imported_by
    from audit_log l left join console_users u on u.id = l.actor_id
      left join audit_sources s on s.audit_id = l.id
    where $1::uuid is null or l.account_id = $1
    order by l.id desc limit $2`,
  {
    id: number(),
    at: timestamp(),
    account_id: nullable(text()),
    action: text(),
    // The person's address, or the database login. Null: the person has been erased since.
    actor: nullable(text()),
    target: nullable(text()),
    before: nullable(text()),
    after: nullable(text()),
    source: nullable(text()),
    request_id: nullable(text()),
    // The cell that wrote the entry, and the login that brought it here. Null: written here.
    imported_from: nullable(text()),
    imported_by: nullable(text()),
  },
);

export type AuditEntry = RowOf<typeof LIST>;

/** Runs changes in one transaction whose audit entries carry this context. */
export function withAuditContext<T>(
  pool: Pool,
  context: AuditContext,
  work: (db: Queryable) => Promise<T>,
): Promise<T> {
  return inTransaction(pool, async (db) => {
    await db.query(
      `select set_config('svc.actor', $1, true), set_config('svc.request_id', $2, true),
        set_config('svc.source', $3, true)`,
      [context.actorId ?? '', context.requestId, context.source],
    );
    return work(db);
  });
}

/** Runs changes in one transaction whose audit entries carry this reason. */
export function withAuditReason<T>(
  pool: Pool,
  reason: string,
  work: (db: Queryable) => Promise<T>,
): Promise<T> {
  return inTransaction(pool, async (db) => {
    await db.query(`select set_config('svc.reason', $1, true)`, [reason]);
    return work(db);
  });
}

/** Lists entries, newest first, of one account or of all. */
export async function listAuditLog(
  db: Queryable,
  input: { accountId: string | null; limit: number },
): Promise<AuditEntry[]> {
  return queryRows(db, LIST, [input.accountId, input.limit]);
}
