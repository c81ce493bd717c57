import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { expect, test } from 'vitest';
import type { Logits } from '../src/ctc/logits.ts';
import type { Frames } from '../src/recognisers/audio-windows.ts';
import { CachedWindows } from '../src/recognisers/cached-windows.ts';
import { finalFrames } from '../src/recognisers/ctc-recogniser.ts';
import { ctcStreamed, ctcWithCache, ctcWithSteps, recognise, SAMPLES } from './decoders.ts';

const LEFT_FRAMES = 100;
const FRAME_SAMPLES = 320;
const [cached, streamed] = [await ctcWithCache(), await ctcStreamed()];
const both = [
  ['cached features', cached],
  ['cached keys and values', streamed],
] as const;
const long = Float32Array.from({ length: 9 * CHUNK_SAMPLES }, (_, at) => {
  return SAMPLES[at % SAMPLES.length] ?? 0;
});
const scores = ({ logits }: Logits): number[] => [...logits];

/** The scores of each window. The frames of its last chunk wait for the next one. */
async function windowsOf(
  windows: CachedWindows,
  audio: Float32Array,
  between: (to: number, frames: Frames) => Promise<unknown> = () => Promise.resolve(),
): Promise<number[][]> {
  const found: number[][] = [];
  for (let at = 0; at < audio.length; at += CHUNK_SAMPLES) {
    windows.accept(audio.subarray(at, at + CHUNK_SAMPLES));
    const to = Math.min(audio.length, at + CHUNK_SAMPLES);
    const frames = {
      keptFrames: Math.max(0, at - CHUNK_SAMPLES) / FRAME_SAMPLES,
      keepTo: at / FRAME_SAMPLES,
    };
    await between(to, frames);
    const { logits } = await windows.encode(to, frames);
    found.push(scores(logits));
  }
  return found;
}

test('only the stand-ins with caches have any', async () => {
  expect(cached.model).toMatchObject({ featureWidth: 80, isStreamed: false });
  expect(streamed.model).toMatchObject({ featureWidth: 80, isStreamed: true });
  expect((await ctcWithSteps()).model.featureWidth).toBe(0);
});

test.each(both)('with %s, a first window scores what the whole would', async (_, { model }) => {
  const windows = new CachedWindows(model, LEFT_FRAMES);
  const [first] = await windowsOf(windows, long.subarray(0, CHUNK_SAMPLES));
  expect(first).toEqual(scores(await model.run(long.subarray(0, CHUNK_SAMPLES))));
});

test('a streamed model makes frames final half a chunk earlier', async () => {
  const lengths: number[] = [];
  for (const recogniser of [cached, streamed]) {
    const utterance = recogniser.begin();
    utterance.accept(long.subarray(0, 3 * CHUNK_SAMPLES));
    while (utterance.ready) await utterance.decode();
    lengths.push(utterance.transcript().stableLength ?? 0);
  }
  expect(finalFrames(cached.model, 3 * CHUNK_SAMPLES)).toBe(112);
  expect(finalFrames(streamed.model, 3 * CHUNK_SAMPLES)).toBe(140);
  expect(lengths[1]).toBeGreaterThan(lengths[0] ?? Infinity);
});

test.each(both)('with %s, no feature is computed twice', async (_, { model }) => {
  const given: { samples: number; scores: number; keys: number }[] = [];
  const counting = {
    featureWidth: model.featureWidth,
    isStreamed: model.isStreamed,
    continue: async (...args: Parameters<typeof model.continue>) => {
      const encoded = await model.continue(...args);
      const keys = Object.values(encoded.keys).map(({ dims }) => Math.max(...dims.slice(2)));
      given.push({ samples: args[0].length, scores: encoded.count, keys: Math.max(0, ...keys) });
      return encoded;
    },
  };
  await windowsOf(new CachedWindows(counting, LEFT_FRAMES), long);
  const most = (of: keyof (typeof given)[number]) => Math.max(...given.map((one) => one[of]));
  expect(most('samples')).toBeLessThanOrEqual(CHUNK_SAMPLES + 400);
  // Windows encode 100 frames again as left context.
  expect(most('scores')).toBe(model.isStreamed ? 111 : 211);
  expect(most('keys')).toBe(model.isStreamed ? LEFT_FRAMES : 0);
});

test.each(both)('with %s, other callers and looks change no score', async (_, { model }) => {
  const alone = await windowsOf(new CachedWindows(model, LEFT_FRAMES), long);
  const loud = new CachedWindows(model, LEFT_FRAMES);
  const windows = new CachedWindows(model, LEFT_FRAMES);
  const beside = await windowsOf(windows, long, async (to, frames) => {
    loud.accept(long.subarray(0, CHUNK_SAMPLES).map((sample) => -9 * sample));
    await loud.encode(to, frames);
    await windows.look(to, frames);
  });
  expect(beside).toEqual(alone);
});

test.each(both)('with %s, stable text stays, also in a replay', async (_, recogniser) => {
  const stable: string[] = [];
  const utterance = await recognise(recogniser.begin(), long, (one) => {
    const { text, stableLength } = one.transcript();
    stable.push(text.slice(0, stableLength));
  });
  const { text } = utterance.transcript();
  expect(stable.at(-1)?.length).toBeGreaterThan(0);
  expect(stable.filter((prefix) => !text.startsWith(prefix))).toEqual([]);
  const again = recogniser.begin();
  again.accept(long);
  again.finish();
  while (again.ready) await again.decode();
  expect(again.transcript().text).toBe(text);
});

test.each(
  [1, 399, 400, 1_601, CHUNK_SAMPLES - 1, CHUNK_SAMPLES + 1, CHUNK_SAMPLES + 319].flatMap((count) =>
    both.map(([name, recogniser]) => ({ count, name, recogniser })),
  ),
)(
  '$count samples with $name leave nothing undecoded, and a look has the text of their final',
  async ({ count, recogniser }) => {
    const utterance = recogniser.begin();
    utterance.accept(long.subarray(0, count));
    while (utterance.ready) await utterance.decode();
    const { text } = await utterance.peek();
    utterance.finish();
    while (utterance.ready) await utterance.decode();
    expect(utterance.transcript().text).toBe(text);
    expect(utterance.samples).toBe(count);
  },
);
