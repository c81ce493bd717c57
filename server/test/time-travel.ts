import type { Pool } from '../src/db.ts';

/**
 * Makes a session and what is remembered of it older. Only the owner of the schema can do this, and only with the
 * guards off: tests of expiry need no minute of waiting.
 */
export async function makeOlder(
  owner: Pool,
  input: { sessionId: string; ms: number },
): Promise<void> {
  const client = await owner.connect();
  try {
    await client.query('begin');
    await client.query(`set local session_replication_role = replica`);
    await client.query(
      `update sessions set created_at = created_at - $2 * interval '1 ms',
        expires_at = expires_at - $2 * interval '1 ms', claimed_at = claimed_at - $2 * interval '1 ms'
        where id = $1`,
      [input.sessionId, input.ms],
    );
    await client.query(
      `update claim_log set claimed_at = claimed_at - $2 * interval '1 ms' where session_id = $1`,
      [input.sessionId, input.ms],
    );
    await client.query(
      `update idempotency set expires_at = expires_at - $2 * interval '1 ms' where session_id = $1`,
      [input.sessionId, input.ms],
    );
    await client.query('commit');
  } finally {
    client.release();
  }
}
