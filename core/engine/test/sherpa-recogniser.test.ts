import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { expect, test } from 'vitest';
import { loadManifests } from '../src/index.ts';
import { Recogniser } from '../src/recognisers/sherpa-recogniser.ts';
import { BareRecogniser, toUtterance } from '@svc-asr/testing/speech/bare-recogniser.ts';
import { MODELS_DIR, speech } from '@svc-asr/testing/speech/fixtures.ts';

const manifests = await loadManifests(MODELS_DIR);
const manifest = manifests.get('svc-asr-kikuyu-v1');
if (manifest?.kind !== 'transducer') throw new Error('no transducer');
const recogniser = new Recogniser({ files: manifest.files, batchSafe: true });
const bare = new BareRecogniser(manifests);
const { model, pcm } = speech('kikuyu-2');
/** Lengths around which the tail causes one more decode, and around a chunk boundary. */
const EDGES = [0, 15_040, CHUNK_SAMPLES].flatMap((edge) => [edge - 1, edge, edge + 1]);

test.each([...EDGES, 1, 4_000, 9_999].filter((samples) => samples > 0))(
  'audio that ends %i samples into a chunk is recognised as bare sherpa does with all of its tail',
  (samples) => {
    const said = pcm.subarray(0, (CHUNK_SAMPLES + samples) * 2);
    const utterance = recogniser.begin(manifest.language);
    utterance.accept(toUtterance({ model, pcm: said }).samples);
    utterance.finish();
    while (utterance.ready) recogniser.decode([utterance]);
    expect(utterance.transcript().text).toBe(bare.recognise({ model, pcm: said }));
    expect(utterance.transcript().text).not.toBe('');
  },
);

test.each([0, 40, 160, 560])(
  'with %i ms of extra lead-in every chunk is decoded once and the end is not lost',
  (extraLeadInMs) => {
    const padded = new Recogniser({ files: manifest.files, batchSafe: true, extraLeadInMs });
    const utterance = padded.begin(manifest.language);
    const { samples } = toUtterance({ model, pcm });
    for (let at = 0; at < samples.length; at += CHUNK_SAMPLES) {
      const chunk = samples.subarray(at, at + CHUNK_SAMPLES);
      utterance.accept(chunk);
      if (chunk.length < CHUNK_SAMPLES) break;
      expect(utterance.ready).toBe(true);
      padded.decode([utterance]);
      expect(utterance.ready).toBe(false);
    }
    utterance.finish();
    while (utterance.ready) padded.decode([utterance]);
    const { text, words } = utterance.transcript();
    expect(text.split(' ').at(-1)).toBe(bare.recognise({ model, pcm }).split(' ').at(-1));
    expect(words[0]?.startMs).toBeLessThan(400);
    expect(words.at(-1)?.endMs).toBeLessThanOrEqual((samples.length * 1000) / 16_000);
  },
);

test.each([0, 100, 280, 440])(
  'a sentence after %i ms of silence has the same text in every turn, because no state outlives a final',
  (silenceMs) => {
    const said = Buffer.concat([Buffer.alloc(silenceMs * 32), pcm]);
    const texts = [1, 2, 3].map(() => {
      const utterance = recogniser.begin(manifest.language);
      utterance.accept(toUtterance({ model, pcm: said }).samples);
      utterance.finish();
      while (utterance.ready) recogniser.decode([utterance]);
      return utterance.transcript().text;
    });
    const text = bare.recognise({ model, pcm: said });
    expect(texts).toEqual([text, text, text]);
    // The model card names this: the silence moves the chunks, and the model may lose a space.
    expect(text.replaceAll(' ', '')).toBe(speech('kikuyu-2').expected.replaceAll(' ', ''));
  },
);
