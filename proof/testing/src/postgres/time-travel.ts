import type { Pool } from '@svc-asr/server/platform/database/db.ts';

/**
 * Backdates a session and its idempotency key, so that tests of expiry need not wait. Only the schema
 * owner can do this, with the guards off.
 */
export async function backdateSession(
  owner: Pool,
  input: { sessionId: string; ms: number },
): Promise<void> {
  await withoutGuards(owner, { name: 'make_older', text: MAKE_OLDER, input });
}

/** Backdates the moment at which the sweeper failed a session. */
export async function backdateSweep(
  owner: Pool,
  input: { sessionId: string; ms: number },
): Promise<void> {
  await withoutGuards(owner, { name: 'sweep_earlier', text: SWEEP_EARLIER, input });
}

async function withoutGuards(
  owner: Pool,
  query: { name: string; text: string; input: { sessionId: string; ms: number } },
): Promise<void> {
  const { name, text, input } = query;
  const client = await owner.connect();
  try {
    await client.query(`begin; set local session_replication_role = replica`);
    await client.query({ name, text, values: [input.sessionId, input.ms] });
    await client.query('commit');
  } finally {
    client.release();
  }
}

const MAKE_OLDER = `
  with of as (
    select account_id, session_id, $2 * interval '1 ms' as older from txn where session_id = $1 and kind = 'reserve'
  ),
  claims as (
    update claim_log c set claimed_at = claimed_at - of.older from of
    where c.account_id = of.account_id and c.session_id = of.session_id
  ),
  keys as (
    update idempotency i set expires_at = expires_at - of.older from of
    where i.account_id = of.account_id and i.session_id = of.session_id
  )
  update sessions s set created_at = created_at - of.older, expires_at = expires_at - of.older,
    claimed_at = claimed_at - of.older
  from of where s.account_id = of.account_id and s.id = of.session_id`;

const SWEEP_EARLIER = `
  update sessions set swept_at = swept_at - $2 * interval '1 ms', completed_at = completed_at - $2 * interval '1 ms'
  where id = $1`;
