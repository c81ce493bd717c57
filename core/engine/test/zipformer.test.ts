import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { toUtterance } from '@svc-asr/testing/speech/bare-recogniser.ts';
import { SPEECH, speech } from '@svc-asr/testing/speech/fixtures.ts';
import { ZIPFORMER, ZIPFORMER_CHUNK_FRAMES } from '@svc-asr/testing/speech/stand-in.ts';
import sherpa from 'sherpa-onnx-node';
import { expect, test } from 'vitest';
import { ZipformerLoader } from '../src/recognisers/zipformer-loader.ts';
import type { ZipformerUtterance } from '../src/recognisers/zipformer-recogniser.ts';
import { KaldiFeatures, MELS } from '../src/transducer/kaldi-features.ts';

const loader = new ZipformerLoader();
const input = { files: ZIPFORMER, chunkFrames: ZIPFORMER_CHUNK_FRAMES };
const EVERYTHING = { pruneHypotheses: 100, pruneLabels: 100 };
const greedy = await loader.load({ ...input, decoding: { width: 1, ...EVERYTHING } });
const beam = await loader.load({
  ...input,
  decoding: { width: 4, pruneHypotheses: 10, pruneLabels: 6 },
});

/** Sends audio in pieces and decodes whenever something is ready. Calls `each` after every decode. */
async function recognise(
  utterance: ZipformerUtterance,
  audio: Float32Array,
  options: { readonly piece?: number; readonly each?: () => void } = {},
): Promise<string> {
  const { piece = CHUNK_SAMPLES, each } = options;
  for (let at = 0; at < audio.length; at += piece) {
    utterance.accept(audio.subarray(at, at + piece));
    while (utterance.ready) await utterance.decode();
    each?.();
  }
  utterance.finish();
  while (utterance.ready) await utterance.decode();
  return utterance.transcript().text;
}

/** sherpa-onnx with the same files. It needs silence at the end to write the last words. */
function bySherpa(samples: Float32Array, method: string): string {
  const { tokens, ...transducer } = ZIPFORMER;
  const recogniser = new sherpa.OnlineRecognizer({
    featConfig: { sampleRate: 16_000, featureDim: MELS },
    modelConfig: { transducer, tokens, numThreads: 1, provider: 'cpu' },
    decodingMethod: method,
  });
  const stream = recogniser.createStream();
  stream.acceptWaveform({ samples, sampleRate: 16_000 });
  stream.acceptWaveform({ samples: new Float32Array(16_000), sampleRate: 16_000 });
  while (recogniser.isReady(stream)) recogniser.decodeStreams([stream]);
  return recogniser.getResult(stream).text.trim();
}

test.each(SPEECH)('a beam of one writes what sherpa-onnx writes: $name', async (sentence) => {
  const { samples } = toUtterance(sentence);
  const text = await recognise(greedy.begin(), samples);
  expect(text.length).toBeGreaterThan(5);
  expect(bySherpa(samples, 'greedy_search').startsWith(text)).toBe(true);
});

test('features do not depend on how the audio is split', () => {
  const { samples } = toUtterance(speech('kikuyu-1'));
  const [whole, split] = [new KaldiFeatures(), new KaldiFeatures()];
  whole.accept(samples);
  for (let at = 0; at < samples.length; at += 777) split.accept(samples.subarray(at, at + 777));
  expect(split.count).toBe(whole.count);
  expect(split.read(0, split.count)).toEqual(whole.read(0, whole.count));
});

test('the text does not depend on how the audio is split or when the flush arrives', async () => {
  const { samples } = toUtterance(speech('dholuo-1'));
  const text = await recognise(beam.begin(), samples);
  expect(await recognise(beam.begin(), samples, { piece: 1_601 })).toBe(text);
  const late = beam.begin();
  late.accept(samples);
  late.finish();
  while (late.ready) await late.decode();
  expect(late.transcript().text).toBe(text);
});

test('a look at the utterance so far has the text of its final, and changes nothing', async () => {
  const { samples } = toUtterance(speech('dholuo-1'));
  const half = samples.subarray(0, samples.length >> 1);
  const utterance = beam.begin();
  const looks: string[] = [];
  for (const part of [half, samples.subarray(half.length)]) {
    utterance.accept(part);
    while (utterance.ready) await utterance.decode();
    looks.push((await utterance.peek()).text);
  }
  utterance.finish();
  while (utterance.ready) await utterance.decode();
  const [early, whole] = [
    await recognise(beam.begin(), half),
    await recognise(beam.begin(), samples),
  ];
  expect(looks).toEqual([early, whole]);
  expect(utterance.transcript().text).toBe(whole);
  expect(early).not.toBe(whole);
});

test.each([0, 1, 399, CHUNK_SAMPLES, 2 * CHUNK_SAMPLES])(
  'an utterance of %i samples of silence ends',
  async (count) => {
    const utterance = beam.begin();
    const text = await recognise(utterance, new Float32Array(count));
    expect(utterance.ready).toBe(false);
    expect(
      utterance
        .transcript()
        .words.map((word) => word.text)
        .join(' '),
    ).toBe(text);
  },
);

test('text that was stable stays, also in the final, and words have rising times', async () => {
  for (const sentence of SPEECH) {
    const utterance = beam.begin();
    const stable: string[] = [];
    const { samples } = toUtterance(sentence);
    const final = await recognise(utterance, samples, {
      each: () => {
        const { text, stableLength = 0 } = utterance.transcript();
        stable.push(text.slice(0, stableLength));
      },
    });
    expect(stable.filter((prefix) => !final.startsWith(prefix))).toEqual([]);
    const starts = utterance.transcript().words.map((word) => word.startMs);
    expect(starts).toEqual(starts.toSorted((one, other) => one - other));
    expect(starts.at(-1)).toBeLessThanOrEqual(Math.ceil(samples.length / 16));
  }
});
