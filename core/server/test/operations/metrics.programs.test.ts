import { readFile } from 'node:fs/promises';
import { createScriptedEngine } from '@svc-asr/engine';
import { makeCertificate } from '@svc-asr/testing/certificate.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { startService, type Service } from '@svc-asr/testing/service/service.ts';
import { StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { statementName } from '../../src/platform/database/metrics.ts';
import { metricTypes, scrapeEverything } from '../support/all-metrics.ts';

const PAGE = new URL('../../../../docs/reference/metrics.md', import.meta.url);
const SECOND = Buffer.alloc(32_000);

let svc: Service;
beforeAll(async () => {
  const { certFile, keyFile } = await makeCertificate();
  svc = await startService({ env: { METRICS_TOKEN: 'look' } });
  secure = await startService({
    database: svc.database,
    env: { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile },
  });
});
let secure: Service;
afterAll(async () => {
  await secure.stop();
  await svc.stop();
});

/** Returns the value of one series of a scrape, or NaN if it is missing. */
async function read(series: string, service = svc): Promise<number> {
  const text = await service.deps.metrics.registry.metrics();
  const line = text.split('\n').find((one) => one.startsWith(`${series} `));
  return Number(line?.slice(series.length) ?? NaN);
}

test('the page lists every metric of every process with its type, and none that does not exist', async () => {
  const exists = metricTypes(await scrapeEverything());
  const page = await readFile(PAGE, 'utf8');
  const listed = page.matchAll(/^\| `(svc_\w+)` \| (\w+)/gm);
  const types = new Map([...listed].map(([, name = '', type = '']) => [name, type]));
  expect(Object.fromEntries(types)).toEqual(Object.fromEntries(exists));
});

test('audio is counted while a stream is open, and stays counted after its end', async () => {
  const before = await read('svc_stream_live_audio_ms_total');
  const { body } = await svc.createSession();
  const stream = await StreamClient.ready(body, { url: svc.streamUrl });
  stream.send(SECOND);
  await eventually(async () => (await read('svc_stream_live_audio_ms_total')) === before + 1_000);
  expect(await read('svc_streams_open')).toBe(1);
  expect(await read('svc_node_slots_used')).toBe(1);
  await stream.close();
  await eventually(async () => (await read('svc_streams_open')) === 0);
  expect(await read('svc_stream_live_audio_ms_total')).toBe(before + 1_000);
});

test('a delta is measured from the arrival of its audio', async () => {
  const { body } = await svc.createSession();
  const stream = await StreamClient.ready(body, { url: svc.streamUrl });
  stream.send(SECOND).send(SECOND);
  await stream.flush();
  await stream.close();
  expect(await read('svc_stream_delta_lag_seconds_count')).toBeGreaterThan(0);
});

test('a stream that ends before ready is counted', async () => {
  const engine = createScriptedEngine({ started: new Promise(() => {}) });
  const slow = await startService({ database: svc.database, parts: { engine } });
  try {
    const { body } = await svc.createSession();
    const stream = await StreamClient.open(body, { url: slow.streamUrl });
    await eventually(async () => (await read('svc_streams_waiting', slow)) === 1);
    await stream.close();
    const series = 'svc_stream_never_ready_total{status="completed"}';
    await expect.poll(() => read(series, slow)).toBe(1);
  } finally {
    await slow.stop();
    await engine.close();
  }
});

test('statements are timed by the SQL function that they call', async () => {
  const tenant = await svc.addTenant({ creditMs: 600_000 });
  await svc.createSession(undefined, { apiKey: tenant.apiKey });
  const text = await svc.deps.metrics.registry.metrics();
  expect(text).toMatch(/svc_database_query_seconds_count\{statement="reserve_session"\} [1-9]/);
  expect(statementName('select * from claim_session($1)')).toBe('claim_session');
  expect(statementName({ name: 'live_nodes', text: 'select id from nodes' })).toBe('live_nodes');
  expect(statementName("select 'secret'")).toBe('other');
});

test('lease, sweeper, draining, pool, build and certificate are shown', async () => {
  expect(await read('svc_lease_held')).toBe(1);
  expect(await read('svc_draining')).toBe(0);
  expect(await read('svc_database_pool_waiting')).toBe(0);
  expect(await svc.deps.metrics.registry.metrics()).toMatch(/svc_build_info\{version="\d/);
  const nowS = Date.now() / 1000;
  await eventually(async () => nowS - (await read('svc_sweeper_last_run_timestamp_seconds')) < 60);
  const expiry = await read('svc_certificate_expiry_timestamp_seconds', secure);
  expect(expiry - nowS).toBeGreaterThan(86_400);
  expect(await read('svc_certificate_expiry_timestamp_seconds')).toBeNaN();
});
