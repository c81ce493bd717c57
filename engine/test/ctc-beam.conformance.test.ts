import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { toUtterance } from '@svc-asr/testing/speech/bare-recogniser.ts';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { STAND_IN, standInModels } from '@svc-asr/testing/speech/stand-in.ts';
import { afterAll, expect, test } from 'vitest';
import { CtcLoader } from '../src/recognisers/ctc-loader.ts';
import { testEngine } from './conformance.ts';
import { startPooledSubject } from './pooled-subject.ts';

const LM = join(import.meta.dirname, 'lm/characters.bin');
const decoding = { unit: 'character', alpha: 0.5, beta: 0.5, beam: 8 };
const models = standInModels({ lm: LM, decoding });
const { model, pcm } = speech('kikuyu-2');
const { samples } = toUtterance({ model, pcm });
const text = await recognise(samples);
afterAll(() => rm(models, { recursive: true }));

/** The same windows in this process, without scheduler, frames and child. */
async function recognise(audio: Float32Array, stable: string[] = []): Promise<string> {
  const { beam, ...weights } = decoding;
  const search = { width: beam, pruneHypotheses: 10, pruneLabels: 6 };
  const lm = { ...weights, path: LM, unit: 'character' as const };
  const loader = new CtcLoader();
  const utterance = (await loader.load({ files: STAND_IN, decoding: { ...search, lm } })).begin();
  for (let at = 0; at < audio.length; at += CHUNK_SAMPLES) {
    utterance.accept(audio.subarray(at, at + CHUNK_SAMPLES));
    if (utterance.ready) await utterance.decode();
    const transcript = utterance.transcript();
    stable.push(transcript.text.slice(0, transcript.stableLength));
  }
  utterance.finish();
  while (utterance.ready) await utterance.decode();
  return utterance.transcript().text;
}

testEngine('offline CTC with a beam and a language model', () =>
  startPooledSubject({ modelsDir: models, model, speech: { pcm, text } }),
);

test('the final begins with all text that was stable before it', async () => {
  const stable: string[] = [];
  const final = await recognise(samples, stable);
  expect(stable.at(-1)?.length).toBeGreaterThan(0);
  expect(stable.filter((prefix) => !final.startsWith(prefix))).toEqual([]);
});
