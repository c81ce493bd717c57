import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { expect, test } from 'vitest';
import { liveStreamsPerChild } from '../src/recognisers/live-streams.ts';
import { ctcWithBeam, ctcWithSteps, recognise, SAMPLES } from './decoders.ts';

const beam = await ctcWithBeam();
const stepped = await ctcWithSteps();

test('the final of a beam begins with all text that was stable before it', async () => {
  const stable: string[] = [];
  const utterance = await recognise(beam.begin(), SAMPLES, (one) => {
    const { text, stableLength } = one.transcript();
    stable.push(text.slice(0, stableLength));
  });
  expect(stable.at(-1)?.length).toBeGreaterThan(0);
  const final = utterance.transcript().text;
  expect(stable.filter((prefix) => !final.startsWith(prefix))).toEqual([]);
});

test('steps of two chunks encode at most 2.5 s for each second of audio, once for two chunks', async () => {
  const long = new Float32Array(16 * CHUNK_SAMPLES);
  for (let at = 0; at < long.length; at += SAMPLES.length) {
    long.set(SAMPLES.subarray(0, long.length - at), at);
  }
  const encoded: number[] = [];
  const stable: string[] = [];
  const utterance = await recognise(stepped.begin(), long, (one) => {
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
    const utterance = await recognise(stepped.begin(), SAMPLES.subarray(0, count));
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
