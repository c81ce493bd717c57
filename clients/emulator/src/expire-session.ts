import type { Pool } from '@svc-asr/server/platform/database/db.ts';

const LIFETIME = `interval '61 seconds'`;

/** Moves a reserved session a minute into the past. It then expires as usual, and its credit is returned. */
export async function expireSession(owner: Pool, sessionId: string): Promise<void> {
  const client = await owner.connect();
  try {
    // Only the schema's owner may do this, and only with the triggers off.
    await client.query('begin; set local session_replication_role = replica');
    await client.query(
      `update idempotency set expires_at = expires_at - ${LIFETIME} where session_id = $1`,
      [sessionId],
    );
    await client.query(
      `update sessions set created_at = created_at - ${LIFETIME}, expires_at = expires_at - ${LIFETIME}
        where id = $1`,
      [sessionId],
    );
    await client.query('commit');
  } finally {
    client.release();
  }
}
