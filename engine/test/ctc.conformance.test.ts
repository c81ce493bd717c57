import { rm } from 'node:fs/promises';
import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { toUtterance } from '@svc-asr/testing/speech/bare-recogniser.ts';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { STAND_IN, standInModels } from '@svc-asr/testing/speech/stand-in.ts';
import { afterAll } from 'vitest';
import { CtcRecogniser } from '../src/recognisers/ctc-recogniser.ts';
import { testEngine } from './conformance.ts';
import { startPooledSubject } from './pooled-subject.ts';

const models = standInModels();
const { model, pcm } = speech('kikuyu-2');
const text = await recognise();
afterAll(() => rm(models, { recursive: true }));

/** The same windows in this process, without scheduler, frames and child. */
async function recognise(): Promise<string> {
  const utterance = (await CtcRecogniser.load(STAND_IN)).begin();
  const { samples } = toUtterance({ model, pcm });
  for (let at = 0; at < samples.length; at += CHUNK_SAMPLES) {
    utterance.accept(samples.subarray(at, at + CHUNK_SAMPLES));
    if (utterance.ready) await utterance.decode();
  }
  utterance.finish();
  while (utterance.ready) await utterance.decode();
  return utterance.transcript().text;
}

const start = () => startPooledSubject({ modelsDir: models, model, speech: { pcm, text } });

testEngine('offline CTC', start);
