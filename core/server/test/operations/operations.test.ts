import { createScriptedEngine, type Engine } from '@svc-asr/engine';
import { STREAM_PATH } from '@svc-asr/protocol';
import { afterAll, expect, test } from 'vitest';
import { revokeApiKey } from '../../src/accounts/keys/api-keys.ts';
import type { Lifecycle } from '../../src/platform/lifecycle.ts';
import { buildApp } from '../../src/http/app.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { startService } from '@svc-asr/testing/service/service.ts';
import { StreamClient } from '@svc-asr/testing/service/stream-client.ts';

const svc = await startService({ env: { METRICS_TOKEN: 'token-of-the-operator' } });
afterAll(() => svc.stop());

test('/healthz and /readyz answer without a key', async () => {
  expect((await svc.request('/healthz')).status).toBe(200);
  expect((await svc.request('/readyz')).status).toBe(200);
});

test('a process that is still starting is not ready, and its streams are 503', async () => {
  const lifecycle: Lifecycle = {
    draining: false,
    drainDeadlineAtMs: null,
    checks: [],
    warnings: [],
  };
  const engine = createScriptedEngine({});
  const ready: boolean[] = [];
  // Requested during startup, when the process already listens.
  const health: Engine['health'] = () => {
    if (ready.length === 0) ready.push(lifecycle.checks.every((holds) => holds()));
    return engine.health();
  };
  const node = await startService({
    database: svc.database,
    env: { ROLE: 'node' },
    parts: { lifecycle, engine: { ...engine, health } },
  });
  try {
    expect(ready).toEqual([false]);
    expect((await node.request('/readyz')).status).toBe(200);
  } finally {
    await node.stop();
  }
  const starting = buildApp(svc.deps);
  const headers = { connection: 'upgrade', upgrade: 'websocket' };
  const answer = await starting.inject({ url: STREAM_PATH, headers });
  expect(answer.statusCode).toBe(503);
  expect(answer.headers['retry-after']).toBe('1');
});

test('/metrics shows latency by route and status, refusals by code, the database and the event loop', async () => {
  await svc.models();
  await svc.refusedSession({ model: 'nobody' });
  const response = await fetch(`${svc.url}/metrics`, {
    headers: { authorization: 'Bearer token-of-the-operator' },
  });
  const text = await response.text();
  expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
  expect(text).toMatch(
    /svc_http_request_seconds_count\{route="\/v1\/models",method="GET",status="200"\} 1/,
  );
  expect(text).toMatch(/svc_http_refusals_total\{code="model_not_found"\} 1/);
  expect(text).toMatch(/^svc_database_up 1$/m);
  expect(text).toMatch(/svc_event_loop_lag_seconds\{quantile="0.99"\}/);
});

test('/metrics needs the token, and is absent if none is set', async () => {
  const refused = await svc.request('/metrics');
  expect(refused.status).toBe(401);
  expect(JSON.stringify(refused.body)).toContain('metrics token');
  const without = await startService({ database: svc.database });
  try {
    expect((await without.request('/metrics')).status).toBe(404);
  } finally {
    await without.stop();
  }
});

test('a streaming node serves streams that an API process reserved, and nothing of the API', async () => {
  const env = { ROLE: 'node', METRICS_TOKEN: 'token-of-the-operator' };
  const node = await startService({ database: svc.database, env });
  try {
    const { body } = await svc.createSession();
    const stream = await StreamClient.ready(body, { url: node.streamUrl });
    await stream.close();
    const headers = { authorization: 'Bearer token-of-the-operator' };
    expect((await fetch(`${node.url}/metrics`, { headers })).status).toBe(200);
    expect((await node.request('/healthz')).status).toBe(200);
    expect((await node.request('/readyz')).status).toBe(200);
    for (const path of ['/v1/models', '/v1/usage', '/v1/asr/sessions', '/openapi.json', '/']) {
      expect((await fetch(node.url + path)).status, path).toBe(404);
    }
  } finally {
    await node.stop();
  }
});

test('last use of a key is written in the background, at the latest on shutdown', async () => {
  const other = await startService({ database: svc.database });
  const tenant = await svc.addTenant({ creditMs: 0 });
  await other.usage({ apiKey: tenant.apiKey });
  await other.stop();
  const { rows } = await svc.database.pool.query<{ last_used_at: Date | null }>(
    'select last_used_at from api_keys where id = $1',
    [tenant.keyId],
  );
  expect(rows[0]?.last_used_at).toBeInstanceOf(Date);
});

test('shutdown completes open requests and refuses new ones', async () => {
  // Uses one connection that is already open, because opening ten may take too long on a busy machine.
  const env = { DATABASE_POOL_SIZE: '1' };
  const leaving = await startService({ database: svc.database, env });
  const { ledger } = leaving.deps;
  const usual = ledger.balance.bind(ledger);
  const stopping = Promise.withResolvers<void>();
  let begun = 0;
  ledger.balance = async (accountId) => {
    const balance = await usual(accountId);
    begun += 1;
    await stopping.promise;
    return balance;
  };
  const running = Promise.all(Array.from({ length: 5 }, () => leaving.usage()));
  await eventually(() => begun === 5);
  const stopped = leaving.stop();
  stopping.resolve();
  const [answers] = await Promise.all([running, stopped]);
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 5 }, () => 200));
  await expect(fetch(`${leaving.url}/healthz`)).rejects.toThrow('fetch failed');
});

test('revoking a key does not disturb the other key of the account', async () => {
  const first = await svc.addTenant({ creditMs: 0 });
  const second = await svc.addKey(first.accountId);
  await revokeApiKey(svc.database.pool, { accountId: first.accountId, id: first.keyId });
  expect((await svc.usage({ apiKey: first.apiKey })).status).toBe(401);
  expect((await svc.usage({ apiKey: second.apiKey })).status).toBe(200);
});
