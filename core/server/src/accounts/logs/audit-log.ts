import type { AuditKind } from '@svc-asr/protocol/console/constants.ts';
import { inTransaction, type Pool, type Queryable } from '../../platform/database/db.ts';
import { queryRows, statement, t, type RowOf } from '../../platform/database/statement.ts';

/** The request behind a change, as recorded in the audit log. */
export interface AuditContext {
  /** The signed-in person. Null: the database login itself. */
  readonly actorId: string | null;
  readonly requestId: string;
  /** The network address the request came from. */
  readonly source: string;
}

/** What each filter of the operators' log shows, as patterns of actions. */
const ACTIONS: Readonly<Record<AuditKind, readonly string[]>> = {
  credit: ['credit.%', 'credit_request.%'],
  accounts: ['account.%', 'waitlist.%', 'session.%'],
  keys: ['api_key.%'],
  people: ['member.%', 'invitation.%', 'passkey.%'],
  sign_ins: ['sign_in', 'sign_in.%'],
  operators: ['command', 'operator.%', 'incident.%', 'ledger.%', 'cell.%'],
};

/** Entries that one page searches at most for a kind or a person, which have no index. */
export const AUDIT_SEARCH_MAX = 50_000;

/** The last entry that was searched is returned too, even if it doesn't match: the next page begins there. */
const LIST = statement(
  `with searched as (
      select l.*, row_number() over (order by id desc) = $8 as is_last from audit_log l
        where ($1::uuid is null or account_id = $1) and ($3::bigint is null or id < $3)
          and ($6::timestamptz is null or at >= $6) and ($7::timestamptz is null or at < $7)
        order by id desc limit $8
    )
    select * from (select l.id, l.at, l.account_id, a.name as account_name, l.action,
      case when l.actor_id is null then l.login else u.email end as actor, l.target,
      coalesce(k.name, p.email, i.email) as target_name, l.before::text, l.after::text, s.source, l.request_id, l.imported_from, l.imported_by,
      l.is_last, ($4::text[] is null or l.action like any ($4))
        and ($5::text is null or coalesce(position(lower($5) in lower(case when l.actor_id is null then l.login else u.email end)) > 0, false))
        as matches
    from searched l left join console_users u on u.id = l.actor_id
      left join accounts a on a.id = l.account_id
      left join audit_sources s on s.audit_id = l.id
      left join api_keys k on l.action like 'api_key.%' and k.id = l.target and k.account_id = l.account_id
      left join console_users p on p.id = case
        when l.action like any (array['member.%', 'passkey.%', 'operator.%', 'sign_in.failed']) then l.target::uuid end
      left join invitations i on i.id = case when l.action like 'invitation.%' then l.target::uuid end
        and i.account_id = l.account_id
    ) l where matches or is_last order by id desc limit $2`,
  {
    id: t.number(),
    at: t.timestamp(),
    account_id: t.nullable(t.text()),
    account_name: t.nullable(t.text()),
    action: t.text(),
    // The person's address, or the database login. Null: the person has been erased since.
    actor: t.nullable(t.text()),
    target: t.nullable(t.text()),
    target_name: t.nullable(t.text()),
    before: t.nullable(t.text()),
    after: t.nullable(t.text()),
    source: t.nullable(t.text()),
    request_id: t.nullable(t.text()),
    // The cell that wrote the entry, and the login that brought it here. Null: written here.
    imported_from: t.nullable(t.text()),
    imported_by: t.nullable(t.text()),
    is_last: t.boolean(),
    matches: t.boolean(),
  },
);

type AuditRow = RowOf<typeof LIST>;
export type AuditEntry = Omit<AuditRow, 'is_last' | 'matches'>;

/**
 * The entries of an account as its owners see them, with names instead of ids. Operators and database logins are not
 * named. The names are looked up now, so those of deleted people and keys are gone.
 */
const LIST_FOR_OWNERS = statement(
  `with entries as materialized (
      select * from audit_log where account_id = $1 order by id desc limit $2
    ), judged as (
      select l.*, u.email as actor_email, case
          when l.actor_id is null then 'operator'
          when u.id is null then 'deleted'
          when u.is_operator and m.user_id is null then 'operator'
          else 'person' end as actor_kind
        from entries l left join console_users u on u.id = l.actor_id
          left join memberships m on m.user_id = l.actor_id and m.account_id = l.account_id
    )
    select l.id, l.at, l.action, l.actor_kind,
      case when l.actor_kind = 'person' then l.actor_email end as actor,
      l.target, coalesce(k.name, p.email, i.email) as target_name,
      l.before::text, l.after::text,
      case when l.actor_kind = 'person' then s.source end as source, l.request_id
    from judged l
      left join api_keys k on l.action like 'api_key.%' and k.id = l.target and k.account_id = l.account_id
      left join console_users p on p.id = case when l.action like 'member.%' then l.target::uuid end
      left join invitations i on i.id = case when l.action like 'invitation.%' then l.target::uuid end
        and i.account_id = l.account_id
      left join audit_sources s on s.audit_id = l.id
    order by l.id desc`,
  {
    id: t.number(),
    at: t.timestamp(),
    action: t.text(),
    actor_kind: t.text<'person' | 'operator' | 'deleted'>(),
    actor: t.nullable(t.text()),
    target: t.nullable(t.text()),
    target_name: t.nullable(t.text()),
    before: t.nullable(t.text()),
    after: t.nullable(t.text()),
    source: t.nullable(t.text()),
    request_id: t.nullable(t.text()),
  },
);

export type OwnersAuditEntry = RowOf<typeof LIST_FOR_OWNERS>;

export async function listAuditLogForOwners(
  db: Queryable,
  input: { accountId: string; limit: number },
): Promise<OwnersAuditEntry[]> {
  return queryRows(db, LIST_FOR_OWNERS, [input.accountId, input.limit]);
}

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

export interface AuditFilter {
  readonly kind?: AuditKind | null;
  /** A part of an address or of a database login. */
  readonly who?: string | null;
  readonly from?: Date | null;
  readonly until?: Date | null;
}

/**
 * Lists entries, newest first, of one account or of all, from before the entry `before` on. `next`: where the next page
 * begins, which may be after fewer than `limit` entries, or none. Null: there are no more.
 */
export async function listAuditLog(
  db: Queryable,
  input: { accountId: string | null; limit: number; before?: number | null } & AuditFilter,
): Promise<{ entries: AuditEntry[]; next: number | null }> {
  const {
    accountId,
    limit,
    before = null,
    kind = null,
    who = null,
    from = null,
    until = null,
  } = input;
  const actions = kind === null ? null : ACTIONS[kind];
  const searched = kind === null && who === null ? limit + 1 : AUDIT_SEARCH_MAX;
  const rows = await queryRows(db, LIST, [
    accountId,
    limit + 1,
    before,
    actions,
    who,
    from,
    until,
    searched,
  ]);
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const isMore = rows.length > limit || last?.is_last === true;
  return {
    entries: shown.filter(({ matches }) => matches).map(present),
    next: isMore ? (last?.id ?? null) : null,
  };
}

function present({ is_last: _last, matches: _matches, ...entry }: AuditRow): AuditEntry {
  return entry;
}
