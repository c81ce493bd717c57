import { createPool, type Pool } from '@svc-asr/server/platform/database/db.ts';
import { startLocalPostgres, type LocalPostgres } from '@svc-asr/local/local-postgres.ts';
import { migrate } from '@svc-asr/server/platform/database/migrate.ts';

/** A temporary, migrated PostgreSQL for one campaign. */
export interface TemporaryLedger {
  readonly server: LocalPostgres;
  /** Connects as the schema owner. */
  readonly owner: Pool;
  /** Connects with the rights of a process with ROLE=all. */
  readonly service: Pool;
  stop(): Promise<void>;
}

export async function startTemporaryLedger(
  options: { connections?: number } = {},
): Promise<TemporaryLedger> {
  const server = await startLocalPostgres();
  await migrate({ url: server.url });
  const maxConnections = options.connections ?? 8;
  const owner = createPool({ url: server.url, maxConnections, statementTimeoutMs: 120_000 });
  const service = createPool({ url: server.url, role: 'svc_all', maxConnections });
  return {
    server,
    owner,
    service,
    async stop() {
      await Promise.all([owner.end(), service.end()]);
      await server.stop('immediate');
    },
  };
}
