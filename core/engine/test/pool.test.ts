import { createHash, randomBytes } from 'node:crypto';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { appendFile, cp, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import {
  EngineFailed,
  ManifestError,
  observeRecognisers,
  startSherpaEngine,
  TAKEN,
  withReplay,
  type EngineEvent,
  type EngineStream,
  type PoolNotice,
  type SherpaEngine,
} from '../src/index.ts';
import { parseChildConfig, presentChildConfig } from '../src/pool/child-config.ts';
import { loadPoolModels } from '../src/pool/pool-models.ts';
import { readProcessState } from '../src/pool/watchdog.ts';
import { BareRecogniser } from '@svc-asr/testing/speech/bare-recogniser.ts';
import { finals, read } from '@svc-asr/testing/speech/event-reader.ts';
import { MODELS_DIR, SPEECH, speech } from '@svc-asr/testing/speech/fixtures.ts';

const CHILDREN = 2;
const never = new AbortController().signal;
let engine: SherpaEngine;
let bare: BareRecogniser;

beforeAll(async () => {
  vi.stubEnv('SECRET_OF_THE_PARENT', 'x');
  engine = await startSherpaEngine({ modelsDir: MODELS_DIR, children: CHILDREN });
  bare = await BareRecogniser.load();
});
afterAll(() => engine.close());

/** Of all children. */
const residentMib = (): number =>
  engine.children().reduce((sum, { pid }) => {
    const [, kib] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return sum + Number(kib) / 1024;
  }, 0);
const exists = (pid: number): boolean => readProcessState(pid) !== null;

test('concurrent streams match the bare recogniser and the recorded text exactly', async () => {
  const frameSamples = [1, 160, 1_600, 1_601, 17_920, 17_919, 32_768, 100_000];
  const heard = await Promise.all(
    SPEECH.map(async ({ model, pcm }, at) => {
      const stream = await engine.open({ model, signal: never });
      const reading = read(stream);
      const bytes = (frameSamples[at] ?? 1_600) * 2;
      for (let from = 0; from < pcm.length; from += bytes) {
        await stream.write(pcm.slice(from, from + bytes));
      }
      stream.flush();
      const said = finals(await reading.until('final'));
      await stream.close();
      return said;
    }),
  );
  const expected = SPEECH.map((sentence) => bare.recognise(sentence));
  expect(heard).toEqual(expected.map((text) => [text]));
  expect(expected).toEqual(SPEECH.map((sentence) => sentence.expected));
  expect(new Set(expected).size).toBe(SPEECH.length);
});

test('decodes a complete chunk without waiting for the next sample', async () => {
  const { model, pcm } = speech('kikuyu-2');
  const stream = await engine.open({ model, signal: never });
  const reading = read(stream);
  await stream.write(pcm.slice(0, stream.chunkSamples * 2));
  const [delta] = await reading.until('delta');
  expect(delta).toMatchObject({ samples: stream.chunkSamples });
  await stream.close();
});

test('closed streams free their memory', async () => {
  const { model } = speech('kikuyu-2');
  const noise = randomBytes(CHUNK_SAMPLES * 2);
  /** Sends audio and closes without a flush. */
  const listen = async (times: number): Promise<void> => {
    for (let time = 0; time < times; time += 1) {
      const stream = await engine.open({ model, signal: never });
      await stream.write(noise);
      await expect.poll(() => engine.health().lagMs, { interval: 1 }).toBe(0);
      await stream.close();
    }
  };
  await listen(100);
  const before = residentMib();
  await listen(1_000);
  // Without explicit collection they held 80.
  expect(residentMib() - before).toBeLessThan(40);
});

test('write() blocks while the child is busy, and the wait shows as lag', async () => {
  const { model, pcm } = speech('dholuo-1');
  const stream = await engine.open({ model, signal: never });
  const writes = Array.from({ length: 30 }, () => stream.write(pcm));
  expect(writes.at(-1)).not.toBe(TAKEN);
  await expect.poll(() => engine.health().lagMs, { interval: 1 }).toBeGreaterThan(0);
  await Promise.all(writes);
  await stream.close();
});

test('an open frame between audio frames does not corrupt the audio', async () => {
  const { model, pcm, expected } = speech('kikuyu-1');
  const answers: Promise<readonly EngineEvent[]>[] = [];
  const streams: EngineStream[] = [];
  for (let at = 0; at < 60; at += 1) {
    const replay = { build: null, bytes: 10 ** (at % 7) };
    const stream = await engine.open({ model, signal: never, replay });
    streams.push(stream);
    answers.push(read(stream).until('final'));
    void stream.write(pcm);
    stream.flush();
  }
  const texts = finals((await Promise.all(answers)).flat());
  expect(new Set(texts)).toEqual(new Set([expected]));
  for (const stream of streams) await stream.close();
});

test('replaces a dead child without affecting the streams of other children', async () => {
  const { model, pcm } = speech('kikuyu-1');
  const streams = await Promise.all(
    Array.from({ length: 4 }, () => engine.open({ model, signal: never })),
  );
  const readings = streams.map(read);
  const [victim] = engine.children();
  if (victim === undefined) throw new Error('no child');
  for (const stream of streams) void stream.write(pcm);
  process.kill(victim.pid, 'SIGKILL');
  for (const stream of streams) stream.flush();
  const outcomes = await Promise.all(
    streams.map(async (stream, at) => {
      await readings[at]?.until('final');
      const last = readings[at]?.seen.at(-1);
      await stream.close();
      return last?.type === 'final' ? last.text : last?.type;
    }),
  );
  const expected = bare.recognise({ model, pcm });
  expect(outcomes).toEqual(
    streams.map((stream) => (stream.childPid === victim.pid ? 'error' : expected)),
  );
  expect(outcomes.filter((outcome) => outcome === expected)).toHaveLength(2);
  await expect
    .poll(() => engine.children().map(({ pid }) => pid))
    .toSatisfy((pids: number[]) => pids.length === CHILDREN && !pids.includes(victim.pid));
  expect(exists(victim.pid)).toBe(false);
});

test('after a loss, streams spread over the children again with their next utterance', async () => {
  const { model, pcm } = speech('kikuyu-2');
  const expected = bare.recognise({ model, pcm });
  const replaying = withReplay(engine);
  const streams = await Promise.all(
    Array.from({ length: 12 }, () => replaying.open({ model, signal: never })),
  );
  const readings = streams.map(read);
  const speak = async (turn: number): Promise<void> => {
    await Promise.all(
      streams.map(async (stream, at) => {
        void stream.write(pcm.slice());
        stream.flush();
        await readings[at]?.until('final', turn);
      }),
    );
  };
  const active = (): number[] => engine.children().map((child) => child.active);
  const [victim] = engine.children();
  process.kill(victim?.pid ?? 0, 'SIGKILL');
  await speak(1);
  await expect.poll(() => active().length).toBe(CHILDREN);
  await speak(2);
  await speak(3);
  await expect.poll(() => Math.max(...active())).toBeLessThan(8);
  expect(active().reduce((sum, count) => sum + count, 0)).toBe(12);
  for (const { seen } of readings) expect(finals(seen)).toEqual([expected, expected, expected]);
  for (const stream of streams) await stream.close();
});

test('no child outlives its parent', async () => {
  const parent = fork(join(import.meta.dirname, 'pool-in-own-process.ts'), { stdio: 'inherit' });
  const pids = await new Promise<number[]>((resolve) => parent.once('message', resolve));
  expect(pids.filter(exists)).toHaveLength(2);
  parent.kill('SIGKILL');
  await once(parent, 'exit');
  await expect.poll(() => pids.filter(exists)).toEqual([]);
});

test('a signal to the whole group stops no child, so the parent can drain streams', async () => {
  const { model, pcm } = speech('dholuo-3');
  const stream = await engine.open({ model, signal: never });
  const reading = read(stream);
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.kill(stream.childPid, signal);
  }
  await stream.write(pcm);
  stream.flush();
  expect(finals(await reading.until('final'))).toEqual([bare.recognise({ model, pcm })]);
  await stream.close();
});

test("a child gets none of its parent's secrets", () => {
  for (const { pid } of engine.children()) {
    expect(readFileSync(`/proc/${pid}/environ`, 'latin1')).not.toContain('SECRET');
  }
});

test('reports unusable models before any child starts', async () => {
  const nowhere = join(tmpdir(), 'no-models-here');
  await expect(startSherpaEngine({ modelsDir: nowhere })).rejects.toThrow(ManifestError);
});

test('unloadable weights fail the start and leave no child', async () => {
  const modelsDir = await mkdtemp(join(tmpdir(), 'models-'));
  try {
    await cp(MODELS_DIR, modelsDir, { recursive: true });
    await breakJoiner(modelsDir);
    await expect(startSherpaEngine({ modelsDir, children: 1 })).rejects.toThrow(EngineFailed);
  } finally {
    await rm(modelsDir, { recursive: true });
  }
});

test('a child is not replaced on changed weights, and is once they are restored', async () => {
  const modelsDir = await mkdtemp(join(tmpdir(), 'models-'));
  const notices: PoolNotice[] = [];
  const noticed = (kind: PoolNotice['notice']) => notices.filter(({ notice }) => notice === kind);
  try {
    await cp(MODELS_DIR, modelsDir, { recursive: true });
    const pool = await startSherpaEngine({
      modelsDir,
      children: 1,
      onNotice: (notice) => notices.push(notice),
    });
    try {
      const joiner = join(modelsDir, 'demo/joiner.onnx');
      const { length } = await readFile(joiner);
      await appendFile(joiner, 'x');
      for (const { pid } of pool.children()) process.kill(pid, 'SIGKILL');
      await expect.poll(() => noticed('weights_changed').length).toBeGreaterThan(1);
      expect(noticed('weights_changed')[0]).toMatchObject({ file: joiner });
      expect(noticed('child_ready')).toHaveLength(1);
      expect(pool.health().ready).toBe(false);

      await truncate(joiner, length);
      await expect.poll(() => pool.health().ready, { timeout: 15_000 }).toBe(true);
    } finally {
      await pool.close();
    }
  } finally {
    await rm(modelsDir, { recursive: true });
  }
});

test('models that share weights are loaded once', async () => {
  const models = await loadPoolModels(MODELS_DIR);
  const [kikuyu, dholuo] = parseChildConfig(presentChildConfig(models.map(({ child }) => child)));
  expect({ ...kikuyu, language: '' }).toEqual({ ...dholuo, language: '' });
});

/** A file with the right hash that is not a valid joiner. */
async function breakJoiner(modelsDir: string): Promise<void> {
  const garbage = Buffer.from('not a joiner');
  const sha256 = createHash('sha256').update(garbage).digest('hex');
  await writeFile(join(modelsDir, 'garbage.onnx'), garbage);
  for (const id of ['svc-asr-kikuyu-v1', 'svc-asr-dholuo-v1']) {
    const path = join(modelsDir, `${id}.json`);
    const manifest: { files: Record<string, unknown> } = JSON.parse(await readFile(path, 'utf8'));
    manifest.files['joiner'] = { path: 'garbage.onnx', sha256 };
    await writeFile(path, JSON.stringify(manifest));
  }
}

test('metrics show slots, batches, CPU time and memory of the recognisers, and their restarts', async () => {
  const registry = new Registry();
  const pool = await startSherpaEngine({ modelsDir: MODELS_DIR, children: 1, slotsPerChild: 3 });
  observeRecognisers(registry, pool);
  const value = async (series: string): Promise<number> => {
    const lines = (await registry.metrics()).split('\n');
    return Number(lines.find((line) => line.startsWith(`${series} `))?.slice(series.length));
  };
  try {
    const { model, pcm } = speech('kikuyu-2');
    const stream = await pool.open({ model, signal: never });
    const reading = read(stream);
    await stream.write(pcm);
    stream.flush();
    await reading.until('final');
    expect(await value('svc_engine_slots')).toBe(3);
    expect(await value('svc_engine_slots_used')).toBe(1);
    expect(await value('svc_engine_recogniser_resident_bytes')).toBeGreaterThan(10_000_000);
    const cpuSeconds = await value('svc_engine_recogniser_cpu_seconds_total');
    expect(cpuSeconds).toBeGreaterThan(0);
    await expect.poll(() => value('svc_engine_batch_streams_count')).toBeGreaterThan(0);
    expect(await value('svc_engine_decode_wait_seconds_bucket{le="+Inf"}')).toBeGreaterThan(0);
    await stream.close();
    const decodes = await value('svc_engine_decode_seconds_count');
    process.kill(pool.children()[0]?.pid ?? 0, 'SIGKILL');
    const restarts = 'svc_engine_recogniser_restarts_total{reason="child_died"}';
    await expect.poll(() => value(restarts)).toBe(1);
    await expect.poll(() => pool.children().length).toBe(1);
    // Counters never go back.
    expect(await value('svc_engine_recogniser_cpu_seconds_total')).toBeGreaterThanOrEqual(
      cpuSeconds,
    );
    expect(await value('svc_engine_decode_seconds_count')).toBeGreaterThanOrEqual(decodes);
  } finally {
    await pool.close();
  }
});
