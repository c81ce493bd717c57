import { freePort } from '@svc-asr/local/free-port.ts';
import { MODELS_DIR } from '@svc-asr/testing/speech/fixtures.ts';
import { expect, test } from 'vitest';
import { startSherpaEngine } from '../src/index.ts';
import { createEngineNodeMetrics } from '../src/node/node-metrics.ts';

test('a draining engine node is healthy but not ready', async () => {
  const engine = await startSherpaEngine({ modelsDir: MODELS_DIR, children: 1 });
  const node = { isDraining: false };
  const health = () => ({ ...engine.health(), active: 7 });
  const port = await freePort();
  const server = await createEngineNodeMetrics(engine, {
    health,
    isDraining: () => node.isDraining,
  }).listen(port);
  const statusOf = async (path: string): Promise<number> =>
    (await fetch(`http://127.0.0.1:${port}${path}`)).status;

  expect([await statusOf('/healthz'), await statusOf('/readyz')]).toEqual([200, 200]);
  node.isDraining = true;
  expect([await statusOf('/healthz'), await statusOf('/readyz')]).toEqual([200, 503]);
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  expect(metrics).toMatch(/^svc_engine_slots_used 7$/m);
  expect(await statusOf('/other')).toBe(404);

  server.close();
  await engine.close();
});
