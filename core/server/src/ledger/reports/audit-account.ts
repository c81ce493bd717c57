import type { Pool } from '../../platform/database/db.ts';
import { findViolationsOfViews } from './audit.ts';

/** Tables of which an auditor may read only these columns. */
const COLUMNS: Readonly<Record<string, string>> = {
  accounts: '*',
  sessions: '*',
  txn: '*',
  entry: '*',
  claim_log: '*',
  audit_log: '*',
  idempotency: 'account_id, session_id, expires_at',
  api_keys: 'id, account_id, live_number, created_at, expires_at, revoked_at',
};

/**
 * Checks the invariants for one account, without reading the others. Temporary views of its rows
 * replace the tables, and the rollback removes them.
 */
export async function auditAccount(pool: Pool, accountId: string): Promise<string[]> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    for (const [table, columns] of Object.entries(COLUMNS)) {
      const key = table === 'accounts' ? 'id' : 'account_id';
      await client.query(
        `create temporary view ${table} as
          select ${columns} from public.${table} where ${key} = '${accountId}'`,
      );
    }
    return await findViolationsOfViews(client);
  } finally {
    await client.query('rollback');
    client.release();
  }
}
