import { createPool, type Pool } from '@svc-asr/server/db.ts';
import { startLocalPostgres, type LocalPostgres } from '@svc-asr/server/local-postgres.ts';
import { migrate } from '@svc-asr/server/migrate.ts';

/** A migrated PostgreSQL that belongs to one campaign and goes with it. */
export interface ThrowAwayLedger {
  readonly server: LocalPostgres;
  /** As the owner of the schema. */
  readonly owner: Pool;
  /** With the rights of a process that does everything. */
  readonly service: Pool;
  stop(): Promise<void>;
}

export async function startThrowAwayLedger(
  options: { connections?: number } = {},
): Promise<ThrowAwayLedger> {
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
