import { setTimeout as delay } from 'node:timers/promises';
import { startEmulator, type Emulator } from '@svc-asr/emulator';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { startNetworkPath, type NetworkPath } from '@svc-asr/testing/network-path.ts';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openStream, type SvcStream } from '@svc-asr/sdk/stream';
import { clientOf, hum, KIKUYU } from '../emulator-client.ts';

const FRAME_MS = 100;

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulator({ texts: ['nĩ wega mũno'], concurrency: 2 });
});
afterAll(() => emulator.stop());

/** A stream whose audio passes a network that the test can cut. Its sessions are created directly. */
async function openThroughNetwork(): Promise<{ stream: SvcStream; network: NetworkPath }> {
  const network = await startNetworkPath(Number(new URL(emulator.url).port));
  const client = clientOf(emulator);
  const stream = openStream({
    getSession: async ({ signal }) => {
      const session = await client.sessions.create({ model: KIKUYU }, { signal });
      const url = new URL(session.websocket_url);
      url.port = String(network.port);
      return { ...session, websocket_url: url.href };
    },
  });
  onTestFinished(async () => {
    await network.close();
    await stream.close();
  });
  return { stream, network };
}

/** Speaks in real time until it is stopped. Returns the stop function, with the amount of audio. */
function speak(stream: SvcStream): () => Promise<number> {
  const stop = new AbortController();
  let spokenMs = 0;
  const speaking = (async () => {
    while (!stop.signal.aborted) {
      await stream.write(hum(FRAME_MS));
      spokenMs += FRAME_MS;
      await delay(FRAME_MS);
    }
  })();
  return async () => {
    stop.abort();
    await speaking;
    return spokenMs;
  };
}

test('a dead network is reported within 3 s, and after 12 s another session gets all audio', async () => {
  const { stream, network } = await openThroughNetwork();
  const reasons: string[] = [];
  let reportedAt = Infinity;
  stream.on('reconnecting', ({ close }) => {
    reasons.push(close.reason);
    reportedAt = Math.min(reportedAt, performance.now());
  });
  const delta = new Promise((resolve) => stream.on('delta', resolve));
  const stop = speak(stream);
  await delta;
  network.cut();
  const cutAt = performance.now();
  await eventually(() => reasons.length > 0, 10_000);
  console.log(`reconnecting ${Math.round(reportedAt - cutAt)} ms after the cut`);
  expect(reportedAt - cutAt).toBeLessThanOrEqual(3_000);
  const moved = new Promise((resolve) => stream.on('ready', resolve));
  await eventually(() => reasons.length > 1, 30_000);
  network.heal();
  await moved;
  const spokenMs = await stop();
  const { text, final } = await stream.finish();
  expect(reasons).toEqual(['connection_stalled', 'connection_lost']);
  expect([text, final.end_ms]).toEqual(['nĩ wega mũno', spokenMs]);
});

test('a network that stalls for some seconds keeps its session and is charged once', async () => {
  const { stream, network } = await openThroughNetwork();
  const events: string[] = [];
  stream.on('ready', ({ type }) => events.push(type));
  stream.on('reconnecting', ({ close }) => events.push(close.reason));
  const delta = new Promise((resolve) => stream.on('delta', resolve));
  const stop = speak(stream);
  await delta;
  network.cut();
  await eventually(() => events.length === 2, 10_000);
  network.heal();
  await eventually(() => events.length === 3, 10_000);
  const spokenMs = await stop();
  const { final, sessions } = await stream.finish();
  expect(events).toEqual(['ready', 'connection_stalled', 'ready']);
  expect(final.end_ms).toBe(spokenMs);
  expect(sessions).toEqual([
    { sessionId: expect.any(String), billableMs: Math.ceil(spokenMs / 1000) * 1000 },
  ]);
});
