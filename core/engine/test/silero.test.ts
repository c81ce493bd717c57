import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { HOP_SAMPLES, Silero, SileroConfirmer, SileroStream } from '../src/index.ts';
import { expectReference } from './silero-reference.ts';

const SPOKEN = samplesOf('kikuyu-1');
const SOURCES = join(import.meta.dirname, '../src/silero');
const SECOND_BYTES = 32_000;

const silero = await Silero.load();

function samplesOf(name: Parameters<typeof speech>[0]): Int16Array {
  return new Int16Array(speech(name).pcm.slice().buffer);
}

function alone(samples: Int16Array): number[] {
  return new SileroStream(silero).push(samples);
}

function sha256(data: Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

test('the WebAssembly was built from its source', async () => {
  for (const line of (await readFile(join(SOURCES, 'silero.sha256'), 'utf8')).trim().split('\n')) {
    const [hash, name = ''] = line.split('  ');
    expect(sha256(await readFile(join(SOURCES, name))), name).toBe(hash);
  }
});

test('hears speech, and neither silence nor a telephone tone', () => {
  expect(Math.max(...alone(SPOKEN))).toBeGreaterThan(0.9);
  expect(Math.max(...alone(new Int16Array(16_000)))).toBe(0);
  const tone = Int16Array.from({ length: 32_000 }, (_, at) =>
    at < 8_000 ? 0 : Math.round(6_000 * Math.sin((2 * Math.PI * 425 * at) / 16_000)),
  );
  expect(Math.max(...alone(tone))).toBeLessThan(0.5);
});

test('gives the verdicts of ONNX Runtime with the same weights', async () => {
  const waves = [SPOKEN, samplesOf('dholuo-1'), samplesOf('kikuyu-2')];
  const { difference } = await expectReference(silero, waves);
  expect(difference).toBeLessThan(5e-5);
});

test('gives the same bits on every processor', () => {
  const bits = new Uint8Array(Float32Array.from(alone(SPOKEN)).buffer);
  expect(sha256(bits)).toBe('480bed42a8af7b042720b4baa277451224be00a5b8c692821a1d976cedfcf62f');
});

/** With pauses in which the energy gate closes. */
const PAUSED = new Int16Array(3 * SPOKEN.length);
PAUSED.set(SPOKEN);
PAUSED.set(SPOKEN.subarray(7_000, 30_000), SPOKEN.length + 9_100);

/** Examines hops one at a time. */
const single: Pick<Silero, 'examine'> = {
  examine: (audio, state) =>
    Float32Array.from({ length: Math.floor(audio.length / HOP_SAMPLES) }, (_, hop) => {
      const from = hop * HOP_SAMPLES;
      return silero.examine(audio.subarray(from, from + HOP_SAMPLES + 64), state)[0] ?? 0;
    }),
};

test.each([1, 320, 1_600, 2_049, PAUSED.length])(
  'gives the same bits in messages of %i samples as hop by hop',
  (size) => {
    const expected = new SileroStream(single).push(PAUSED);
    expect(expected.filter((probability) => probability === 0).length).toBeGreaterThan(20);
    const stream = new SileroStream(silero);
    const found: number[] = [];
    for (let at = 0; at < PAUSED.length; at += size) {
      found.push(...stream.push(PAUSED.subarray(at, at + size)));
    }
    expect(found).toEqual(expected);
  },
);

test('gives a stream the same verdicts in parts and beside others as alone', async () => {
  const expected = alone(SPOKEN);
  expect(expected).toHaveLength(Math.floor(SPOKEN.length / HOP_SAMPLES));
  const confirmer = new SileroConfirmer(silero);
  const listeners = ['a', 'b', 'b'].map((owner) => confirmer.open({ startSample: 7, owner }));
  const bytes = new Uint8Array(SPOKEN.buffer);
  const heard = listeners.map((listener) => {
    const parts: ReturnType<typeof listener.listen>[] = [];
    for (let at = 0; at < bytes.length; at += 4_441) {
      parts.push(listener.listen(bytes.subarray(at, at + 4_441)));
    }
    return Promise.all(parts);
  });
  for (const verdicts of await Promise.all(heard)) {
    const found = verdicts.flatMap((part) => [...(part?.probabilities ?? [])]);
    expect(found).toEqual(expected.map(Math.fround));
    const last = verdicts.at(-1);
    expect(verdicts[0]?.startSample).toBe(7);
    expect(last?.startSample).toBe(
      7 + HOP_SAMPLES * (expected.length - (last?.probabilities.length ?? 0)),
    );
  }
});

/** Counts hops instead of examining them. The noise opens the gate. */
class Counter {
  hops = 0;

  examine(audio: Float32Array): Float32Array {
    const hops = Math.floor(audio.length / HOP_SAMPLES);
    this.hops += hops;
    // About as long as a real one.
    const endMs = performance.now() + 0.05 * hops;
    while (performance.now() < endMs);
    return new Float32Array(hops).fill(0.5);
  }
}

function noise(seconds: number): Uint8Array {
  const bytes = new Uint8Array(seconds * SECOND_BYTES);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = (at * at * 31) % 251;
  return bytes;
}

test('live audio goes before all audio that was sent faster than real time', async () => {
  const counter = new Counter();
  const confirmer = new SileroConfirmer(counter);
  let filesDone = 0;
  const files = Array.from({ length: 8 }, () => {
    const file = confirmer.open({ startSample: 0, owner: 'files' });
    return file.listen(noise(4)).then(() => (filesDone += 1));
  });
  for (let message = 0; message < 5; message += 1) {
    const caller = confirmer.open({ startSample: 0, owner: 'caller' });
    const before = counter.hops;
    await caller.listen(noise(1).subarray(0, SECOND_BYTES / 10));
    expect(counter.hops - before).toBeLessThanOrEqual(3);
  }
  expect(filesDone).toBe(0);
  await Promise.all(files);
});

test('an account with many files delays the file of another by no more than its own length', async () => {
  const counter = new Counter();
  const confirmer = new SileroConfirmer(counter);
  const files = Array.from({ length: 8 }, () =>
    confirmer.open({ startSample: 0, owner: 'many' }).listen(noise(4)),
  );
  await confirmer.open({ startSample: 0, owner: 'one' }).listen(noise(4));
  expect(counter.hops).toBeLessThanOrEqual(2 * 125 + 8);
  await Promise.all(files);
});

test('goes on at the right sample after audio that was skipped', async () => {
  const listener = new SileroConfirmer(silero).open({ startSample: 100, owner: 'a' });
  const skipped = listener.listen(new Uint8Array(2_048));
  listener.skip();
  expect(await skipped).toBeNull();
  const next = await listener.listen(new Uint8Array(2_048));
  expect(next).toEqual({ startSample: 100 + 1_024, probabilities: Float32Array.of(0, 0) });
});
