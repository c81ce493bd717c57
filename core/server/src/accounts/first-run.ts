import type { Queryable } from '../platform/database/db.ts';
import { queryRows, statement, t } from '../platform/database/statement.ts';

/** How far an account is on its way to the first words. */
export interface FirstRunSteps {
  readonly key: boolean;
  readonly call: boolean;
  readonly words: boolean;
}

/** A key's last use is written with a delay, so the newest reservations are looked at too. */
const RESERVATIONS_MAX = 100;

/**
 * The details of a stream are kept for 30 days. An older account that was charged for audio had its first words before
 * that.
 */
const READ = statement(
  `select exists (select 1 from api_keys where account_id = a.id) as has_key,
    exists (select 1 from api_keys where account_id = a.id and last_used_at is not null)
      or exists (
        select 1 from (
          select session_id from txn where account_id = a.id and kind = 'reserve'
            order by seq desc limit $2
        ) t join sessions s on s.account_id = a.id and s.id = t.session_id
        where s.key_id is not null
      ) as has_call,
    (a.consumed_ms > 0 and a.created_at < clock_timestamp() - interval '30 days')
      or exists (
        select 1 from session_details d where d.account_id = a.id and d.first_words_ms is not null
      ) as has_words
    from accounts a where a.id = $1`,
  { has_key: t.boolean(), has_call: t.boolean(), has_words: t.boolean() },
);

export async function readFirstRun(db: Queryable, accountId: string): Promise<FirstRunSteps> {
  const [row] = await queryRows(db, READ, [accountId, RESERVATIONS_MAX]);
  return {
    key: row?.has_key === true,
    call: row?.has_call === true,
    words: row?.has_words === true,
  };
}
