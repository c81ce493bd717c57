import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { toUtterance } from '@svc-asr/testing/speech/bare-recogniser.ts';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import {
  ZIPFORMER,
  ZIPFORMER_CHUNK_FRAMES,
  zipformerModels,
} from '@svc-asr/testing/speech/stand-in.ts';
import { afterAll } from 'vitest';
import { ZipformerLoader } from '../src/recognisers/zipformer-loader.ts';
import { testEngine } from './conformance.ts';
import { startPooledSubject } from './pooled-subject.ts';

const LM = join(import.meta.dirname, 'lm/characters.bin');
const decoding = { unit: 'character', alpha: 0.3, beta: 0.5, beam: 4 };
const models = zipformerModels({ lm: LM, decoding });
const { model, pcm } = speech('kikuyu-2');
const text = await recognise(toUtterance({ model, pcm }).samples);
afterAll(() => rm(models, { recursive: true }));

/** The same search in this process, without scheduler, frames and child. */
async function recognise(audio: Float32Array): Promise<string> {
  const { beam, ...weights } = decoding;
  const lm = { ...weights, path: LM, unit: 'character' as const };
  const recogniser = await new ZipformerLoader().load({
    files: ZIPFORMER,
    chunkFrames: ZIPFORMER_CHUNK_FRAMES,
    decoding: { width: beam, pruneHypotheses: 10, pruneLabels: 6, lm },
  });
  const utterance = recogniser.begin();
  for (let at = 0; at < audio.length; at += CHUNK_SAMPLES) {
    utterance.accept(audio.subarray(at, at + CHUNK_SAMPLES));
    if (utterance.ready) await utterance.decode();
  }
  utterance.finish();
  while (utterance.ready) await utterance.decode();
  return utterance.transcript().text;
}

testEngine('a Zipformer transducer with a beam and a language model', () =>
  startPooledSubject({ modelsDir: models, model, speech: { pcm, text } }),
);
