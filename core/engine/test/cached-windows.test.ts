import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { expect, test } from 'vitest';
import type { Logits } from '../src/ctc/logits.ts';
import { CachedWindows } from '../src/recognisers/cached-windows.ts';
import { ctcWithCache, ctcWithSteps, recognise, SAMPLES } from './decoders.ts';

const LEFT_FRAMES = 100;
const FRAME_SAMPLES = 320;
const cached = await ctcWithCache();
const long = Float32Array.from({ length: 9 * CHUNK_SAMPLES }, (_, at) => {
  return SAMPLES[at % SAMPLES.length] ?? 0;
});
const scores = ({ logits }: Logits): number[] => [...logits];

/** The scores of each window, where each window keeps the frames before its last chunk. */
async function windowsOf(
  windows: CachedWindows,
  audio: Float32Array,
  between: (place: { to: number; keptFrames: number }) => Promise<unknown> = () =>
    Promise.resolve(),
): Promise<number[][]> {
  const found: number[][] = [];
  for (let at = 0; at < audio.length; at += CHUNK_SAMPLES) {
    windows.accept(audio.subarray(at, at + CHUNK_SAMPLES));
    const to = Math.min(audio.length, at + CHUNK_SAMPLES);
    const keptFrames = Math.floor(at / FRAME_SAMPLES);
    await between({ to, keptFrames });
    const { logits } = await windows.encode(to, keptFrames);
    found.push(scores(logits));
  }
  return found;
}

test('only the stand-in with cached features has any', async () => {
  expect(cached.model.featureWidth).toBe(80);
  expect((await ctcWithSteps()).model.featureWidth).toBe(0);
});

test('a window scores what its features computed at once would', async () => {
  const windows = new CachedWindows(cached.model, LEFT_FRAMES);
  const [first] = await windowsOf(windows, long.subarray(0, CHUNK_SAMPLES));
  expect(first).toEqual(scores(await cached.model.run(long.subarray(0, CHUNK_SAMPLES))));
});

test('features of samples that came before are not computed again', async () => {
  const given: number[] = [];
  const counting = {
    featureWidth: cached.model.featureWidth,
    continue: (...args: Parameters<typeof cached.model.continue>) => {
      given.push(args[0].length);
      return cached.model.continue(...args);
    },
  };
  await windowsOf(new CachedWindows(counting, LEFT_FRAMES), long);
  expect(Math.max(...given)).toBeLessThanOrEqual(CHUNK_SAMPLES + 400);
});

test("another caller's audio and looks at the text so far change no score", async () => {
  const alone = await windowsOf(new CachedWindows(cached.model, LEFT_FRAMES), long);
  const loud = new CachedWindows(cached.model, LEFT_FRAMES);
  const windows = new CachedWindows(cached.model, LEFT_FRAMES);
  const beside = await windowsOf(windows, long, async ({ to, keptFrames }) => {
    loud.accept(long.subarray(0, CHUNK_SAMPLES).map((sample) => -9 * sample));
    await loud.encode(to, keptFrames);
    await windows.look(to, keptFrames);
  });
  expect(beside).toEqual(alone);
});

test('stable text stays, and the final of a replay is the same', async () => {
  const stable: string[] = [];
  const utterance = await recognise(cached.begin(), long, (one) => {
    const { text, stableLength } = one.transcript();
    stable.push(text.slice(0, stableLength));
  });
  const { text } = utterance.transcript();
  expect(stable.at(-1)?.length).toBeGreaterThan(0);
  expect(stable.filter((prefix) => !text.startsWith(prefix))).toEqual([]);
  const again = cached.begin();
  again.accept(long);
  again.finish();
  while (again.ready) await again.decode();
  expect(again.transcript().text).toBe(text);
});

test.each([1, 399, 400, 1_601, CHUNK_SAMPLES - 1, CHUNK_SAMPLES + 1, CHUNK_SAMPLES + 319])(
  '%i samples leave nothing undecoded, and a look at them has the text of their final',
  async (count) => {
    const utterance = cached.begin();
    utterance.accept(long.subarray(0, count));
    while (utterance.ready) await utterance.decode();
    const { text } = await utterance.peek();
    utterance.finish();
    while (utterance.ready) await utterance.decode();
    expect(utterance.transcript().text).toBe(text);
    expect(utterance.samples).toBe(count);
  },
);
