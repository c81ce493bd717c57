import { rm } from 'node:fs/promises';
import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { toUtterance } from '@svc-asr/testing/speech/bare-recogniser.ts';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { STAND_IN, standInModels } from '@svc-asr/testing/speech/stand-in.ts';
import { afterAll, expect, test } from 'vitest';
import { CtcLoader } from '../src/recognisers/ctc-loader.ts';
import type { CtcUtterance } from '../src/recognisers/ctc-recogniser.ts';
import { liveStreamsPerChild } from '../src/recognisers/live-streams.ts';
import { testEngine } from './conformance.ts';
import { startPooledSubject } from './pooled-subject.ts';

const models = standInModels(undefined, { step_ms: 2_240 });
const { model, pcm } = speech('kikuyu-2');
const { samples } = toUtterance({ model, pcm });
const recogniser = await new CtcLoader().load({ files: STAND_IN, stepChunks: 2 });
const text = (await recognise(samples)).transcript().text;
afterAll(() => rm(models, { recursive: true }));

/** The same windows in this process, without scheduler, frames and child. */
async function recognise(
  audio: Float32Array,
  onChunk: (utterance: CtcUtterance) => void = () => {},
): Promise<CtcUtterance> {
  const utterance = recogniser.begin();
  for (let at = 0; at < audio.length; at += CHUNK_SAMPLES) {
    utterance.accept(audio.subarray(at, at + CHUNK_SAMPLES));
    while (utterance.ready) await utterance.decode();
    onChunk(utterance);
  }
  utterance.finish();
  while (utterance.ready) await utterance.decode();
  return utterance;
}

testEngine('offline CTC with steps of two chunks', () =>
  startPooledSubject({ modelsDir: models, model, speech: { pcm, text } }),
);

test('encodes at most 2.5 s for each second of audio, once for two chunks', async () => {
  const long = new Float32Array(16 * CHUNK_SAMPLES);
  for (let at = 0; at < long.length; at += samples.length) {
    long.set(samples.subarray(0, long.length - at), at);
  }
  const encoded: number[] = [];
  const stable: string[] = [];
  const utterance = await recognise(long, (one) => {
    const { text: shown, stableLength } = one.transcript();
    stable.push(shown.slice(0, stableLength));
    encoded.push(one.encodedSamples);
  });
  expect(utterance.encodedSamples / utterance.samples).toBeLessThanOrEqual(2.5);
  expect(encoded.filter((total, at) => total !== encoded[at - 1]).length).toBe(9);
  const final = utterance.transcript().text;
  expect(stable.at(-1)?.length).toBeGreaterThan(0);
  expect(stable.filter((prefix) => !final.startsWith(prefix))).toEqual([]);
});

test.each([1, 399, CHUNK_SAMPLES - 1, CHUNK_SAMPLES, CHUNK_SAMPLES + 1, 2 * CHUNK_SAMPLES])(
  'the end of %i samples leaves nothing undecoded',
  async (count) => {
    const utterance = await recognise(samples.subarray(0, count));
    expect(utterance.ready).toBe(false);
    expect(utterance.encodedSamples).toBe(count);
  },
);

test('more threads and longer steps allow more live streams', () => {
  const load = 0.8;
  expect(liveStreamsPerChild({ cpuMsPerChunk: 1_000, threads: 1, load })).toBe(1);
  expect(liveStreamsPerChild({ cpuMsPerChunk: 1_000, threads: 4, load })).toBe(3);
  expect(liveStreamsPerChild({ cpuMsPerChunk: 500, threads: 4, load })).toBe(7);
});
