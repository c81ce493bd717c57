import type { Pool } from '@svc-asr/server/db.ts';

const LIFETIME = `interval '61 seconds'`;

/** As if a minute had passed since the session was reserved: it expires for real, and its seconds come back. */
export async function lapse(owner: Pool, sessionId: string): Promise<void> {
  const client = await owner.connect();
  try {
    // Only the owner of the schema may do this, and only with the guards off.
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
