import { afterEach, expect, test } from 'vitest';
import {
  startDatabaseProxy,
  type DatabaseProxy,
} from '@svc-asr/testing/postgres/database-proxy.ts';
import { createTestDatabase, type TestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { startService } from '@svc-asr/testing/service/service.ts';

/** Statements end after two seconds at most, and each part of the process waits for one of them. */
const STOP_MAX_MS = 15_000;

let database: TestDatabase;
let proxy: DatabaseProxy;
afterEach(async () => {
  await proxy.close();
  await database.drop();
});

test('stops within its deadline while the database hangs, however long it has hung', async () => {
  database = await createTestDatabase();
  proxy = await startDatabaseProxy(database.url);
  const svc = await startService({ database, databaseUrl: proxy.url });
  proxy.set('silent');
  // By then the outage has affected every periodic task, and several runs would be queued.
  await eventually(async () => (await svc.request('/readyz')).status === 503, 20_000);
  const began = performance.now();
  await svc.stop();
  expect(performance.now() - began).toBeLessThan(STOP_MAX_MS);
});
