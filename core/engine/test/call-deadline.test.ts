import { status } from '@grpc/grpc-js';
import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { finals, read } from '@svc-asr/testing/speech/event-reader.ts';
import { afterEach, expect, test } from 'vitest';
import {
  createScriptedEngine,
  startEngineNode,
  startRivaEngine,
  withReplay,
  type Engine,
  type RivaEngine,
  type ScriptedOptions,
} from '../src/index.ts';

const MODEL = 'svc-asr-kikuyu-v1';
const TEXT = 'tũgũthoma mabuku maitũ mothe';
const STEP_MS = 30_000;
const never = new AbortController().signal;
const chunk = (): Uint8Array => new Uint8Array(CHUNK_SAMPLES * 2);
const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

/** A node and a gateway that share a clock, so that minutes pass in seconds. */
async function start(options: ScriptedOptions & { hasKeepAlives?: boolean } = {}): Promise<{
  gateway: RivaEngine;
  node: Engine;
  codes: status[];
  pass: (ms: number) => Promise<void>;
}> {
  const scripted = createScriptedEngine({ script: { texts: [TEXT] }, ...options });
  let [nowMs, looks] = [0, 0];
  const codes: status[] = [];
  const engine: Engine = {
    ...scripted,
    health: () => {
      looks += 1;
      return scripted.health();
    },
  };
  const node = await startEngineNode({
    engine,
    address: '127.0.0.1:0',
    tls: null,
    onCall: (code) => codes.push(code),
    nowMs: () => nowMs,
  });
  closers.push(() => node.close());
  const gateway = await startRivaEngine({
    addresses: `127.0.0.1:${node.port}`,
    tls: null,
    nowMs: options.hasKeepAlives === false ? () => 0 : () => nowMs,
  });
  closers.push(() => gateway.close());
  return {
    gateway,
    node: scripted,
    codes,
    async pass(ms) {
      for (const endMs = nowMs + ms; nowMs < endMs;) {
        nowMs += STEP_MS;
        // The node looks at its calls, and answers the gateway's heartbeats, with a health report each.
        const seen = looks + 4;
        await expect.poll(() => looks, { interval: 20, timeout: 10_000 }).toBeGreaterThan(seen);
      }
    },
  };
}

test('a call stays open while the gateway holds it, however long the speaker pauses', async () => {
  const { gateway, pass } = await start();
  const stream = await gateway.open({ model: MODEL, signal: never });
  const reading = read(stream);
  await stream.write(chunk());
  await reading.until('delta');
  await pass(240_000);
  await stream.write(chunk());
  stream.flush();
  expect(finals(await reading.until('final'))).toEqual([TEXT]);
  expect(reading.seen.filter(({ type }) => type === 'error')).toEqual([]);
});

test('a call stays open while the node itself takes minutes to take its audio', async () => {
  const { gateway, codes, pass } = await start({
    script: { texts: [TEXT], hangAfterSamples: 1 },
    stalledAfterMs: Infinity,
    hasKeepAlives: false,
  });
  const stream = await gateway.open({ model: MODEL, signal: never });
  const reading = read(stream);
  for (let times = 0; times < 3; times += 1) void stream.write(chunk());
  await expect.poll(() => gateway.nodes()[0]?.calls).toBe(1);
  await pass(150_000);
  expect(reading.seen).toEqual([]);
  expect(codes).toEqual([]);
  stream.flush();
  await stream.close();
});

test('a node gives up a call whose client sends nothing for 90 s', async () => {
  const { gateway, node, codes, pass } = await start({ hasKeepAlives: false });
  const stream = await gateway.open({ model: MODEL, signal: never });
  const reading = read(stream);
  await stream.write(chunk());
  await reading.until('delta');
  await pass(60_000);
  expect(node.health().active).toBe(1);
  await pass(30_000);
  expect((await reading.ended).at(-1)).toEqual({ type: 'error', reason: 'deadline_exceeded' });
  expect(codes).toEqual([status.DEADLINE_EXCEEDED]);
  expect(node.health().active).toBe(0);
});

test('a deadline is replayed, and reported as a deadline when the utterance is too long', async () => {
  const { gateway, pass } = await start({ hasKeepAlives: false });
  const replaying = withReplay(gateway, { secondsPerStream: 2 });
  const stream = await replaying.open({ model: MODEL, signal: never });
  const reading = read(stream);
  await stream.write(chunk());
  await reading.until('delta');
  await pass(90_000);
  await expect.poll(() => replaying.replays().replayed).toBe(1);
  await stream.write(chunk());
  await reading.until('delta', 2);
  await pass(90_000);
  expect((await reading.ended).at(-1)).toEqual({ type: 'error', reason: 'deadline_exceeded' });
});
