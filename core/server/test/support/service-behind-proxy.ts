import { createTestDatabase, type TestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import {
  startDatabaseProxy,
  type DatabaseProxy,
} from '@svc-asr/testing/postgres/database-proxy.ts';
import {
  startService,
  type Service,
  type ServiceOptions,
} from '@svc-asr/testing/service/service.ts';

/** A service behind a proxy with which a test can disconnect its database. */
export interface ServiceBehindProxy {
  readonly svc: Service;
  readonly proxy: DatabaseProxy;
  readonly database: TestDatabase;
  readonly stop: () => Promise<void>;
}

export async function startServiceBehindProxy(
  options: Pick<ServiceOptions, 'env' | 'capacity' | 'parts'> = {},
): Promise<ServiceBehindProxy> {
  const database = await createTestDatabase();
  const proxy = await startDatabaseProxy(database.url);
  const svc = await startService({ ...options, database, databaseUrl: proxy.url });
  return {
    svc,
    proxy,
    database,
    stop: async () => {
      await svc.stop();
      await proxy.close();
      await database.drop();
    },
  };
}
