import { createHash, randomBytes } from 'node:crypto';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  EngineFailed,
  ManifestError,
  startSherpaEngine,
  TAKEN,
  type SherpaEngine,
} from '../src/index.ts';
import { allowsBatching } from '../src/sherpa/pool-models.ts';
import { lookAtProcess } from '../src/sherpa/watchdog.ts';
import { BareRecogniser } from './bare.ts';
import { finals, read } from './reading.ts';
import { MODELS_DIR, SPEECH, speech } from './speech.ts';

const CHILDREN = 2;
const never = new AbortController().signal;
let engine: SherpaEngine;
let bare: BareRecogniser;

beforeAll(async () => {
  process.env['SECRET_OF_THE_PARENT'] = 'x';
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
const exists = (pid: number): boolean => lookAtProcess(pid) !== null;

test('streams side by side say letter for letter what the bare recogniser says and the record has', async () => {
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

test('a chunk that is complete is decoded without waiting for the next sample', async () => {
  const { model, pcm } = speech('kikuyu-2');
  const stream = await engine.open({ model, signal: never });
  const reading = read(stream);
  await stream.write(pcm.slice(0, stream.chunkSamples * 2));
  const [delta] = await reading.until('delta');
  expect(delta).toMatchObject({ samples: stream.chunkSamples });
  await stream.close();
});

test('streams that are over give their memory back', async () => {
  const { model } = speech('kikuyu-2');
  const noise = randomBytes(CHUNK_SAMPLES * 2);
  /** Heard, and left without a word. */
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
  // Left to V8, they held 80.
  expect(residentMib() - before).toBeLessThan(40);
});

test('a writer is held up while the child has enough, and the wait shows as lag', async () => {
  const { model, pcm } = speech('dholuo-1');
  const stream = await engine.open({ model, signal: never });
  const writes = Array.from({ length: 30 }, () => stream.write(pcm));
  expect(writes.at(-1)).not.toBe(TAKEN);
  await expect.poll(() => engine.health().lagMs, { interval: 1 }).toBeGreaterThan(0);
  await Promise.all(writes);
  await stream.close();
});

test('a dead child is replaced and the streams of the others feel nothing', async () => {
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

test('no child outlives its parent, however that ended', async () => {
  const parent = fork(join(import.meta.dirname, 'pool-in-own-process.ts'), { stdio: 'inherit' });
  const pids = await new Promise<number[]>((resolve) => parent.once('message', resolve));
  expect(pids.filter(exists)).toHaveLength(2);
  parent.kill('SIGKILL');
  await once(parent, 'exit');
  await expect.poll(() => pids.filter(exists)).toEqual([]);
});

test('a signal to the whole group ends no child: streams are drained by the parent', async () => {
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

test('a child is given none of the secrets of its parent', () => {
  for (const { pid } of engine.children()) {
    expect(readFileSync(`/proc/${pid}/environ`, 'latin1')).not.toContain('SECRET');
  }
});

test('models that cannot be used are named before any child is started', async () => {
  const nowhere = join(tmpdir(), 'no-models-here');
  await expect(startSherpaEngine({ modelsDir: nowhere })).rejects.toThrow(ManifestError);
});

test('weights that the recogniser cannot load fail the start and leave no child', async () => {
  const modelsDir = await mkdtemp(join(tmpdir(), 'models-'));
  try {
    await cp(MODELS_DIR, modelsDir, { recursive: true });
    await breakJoiner(modelsDir);
    await expect(startSherpaEngine({ modelsDir, children: 1 })).rejects.toThrow(EngineFailed);
  } finally {
    await rm(modelsDir, { recursive: true });
  }
});

test('weights whose numbers depend on the whole batch are not batched', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'weights-'));
  try {
    const [fixed, dynamic] = [join(folder, 'a.onnx'), join(folder, 'b.onnx')];
    await writeFile(fixed, 'MatMul DequantizeLinear');
    await writeFile(dynamic, 'MatMulInteger DynamicQuantizeLinear');
    expect(await allowsBatching([fixed])).toBe(true);
    expect(await allowsBatching([fixed, dynamic])).toBe(false);
  } finally {
    await rm(folder, { recursive: true });
  }
});

/** A file that is what its manifest says, and still no joiner. */
async function breakJoiner(modelsDir: string): Promise<void> {
  const garbage = Buffer.from('this is no joiner');
  const sha256 = createHash('sha256').update(garbage).digest('hex');
  await writeFile(join(modelsDir, 'garbage.onnx'), garbage);
  for (const id of ['svc-asr-kikuyu-v1', 'svc-asr-dholuo-v1']) {
    const path = join(modelsDir, `${id}.json`);
    const manifest: { files: Record<string, unknown> } = JSON.parse(await readFile(path, 'utf8'));
    manifest.files['joiner'] = { path: 'garbage.onnx', sha256 };
    await writeFile(path, JSON.stringify(manifest));
  }
}
