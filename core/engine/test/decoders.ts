import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { toUtterance } from '@svc-asr/testing/speech/bare-recogniser.ts';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import {
  CACHED_STAND_IN,
  cachedModels,
  STAND_IN,
  standInModels,
  STREAMED_STAND_IN,
  streamedModels,
  ZIPFORMER,
  ZIPFORMER_CHUNK_FRAMES,
  zipformerModels,
} from '@svc-asr/testing/speech/stand-in.ts';
import { afterAll } from 'vitest';
import { CtcLoader } from '../src/recognisers/ctc-loader.ts';
import type { CtcUtterance } from '../src/recognisers/ctc-recogniser.ts';
import { ZipformerLoader } from '../src/recognisers/zipformer-loader.ts';
import type { ZipformerUtterance } from '../src/recognisers/zipformer-recogniser.ts';
import type { Subject } from './conformance.ts';
import { startPooledSubject } from './pooled-subject.ts';

const LM = join(import.meta.dirname, 'lm/characters.bin');
const PRUNED = { pruneHypotheses: 10, pruneLabels: 6 };
const { model, pcm } = speech('kikuyu-2');
export const { samples: SAMPLES } = toUtterance({ model, pcm });

const weights = (alpha: number) => ({ unit: 'character' as const, alpha, beta: 0.5 });
const beamOf = (width: number, alpha: number) => ({
  width,
  ...PRUNED,
  lm: { ...weights(alpha), path: LM },
});

/** The same search in this process, without scheduler, frames and child. */
export async function recognise<T extends CtcUtterance | ZipformerUtterance>(
  utterance: T,
  audio: Float32Array = SAMPLES,
  onChunk: (utterance: T) => void = () => {},
): Promise<T> {
  for (let at = 0; at < audio.length; at += CHUNK_SAMPLES) {
    utterance.accept(audio.subarray(at, at + CHUNK_SAMPLES));
    while (utterance.ready) await utterance.decode();
    onChunk(utterance);
  }
  utterance.finish();
  while (utterance.ready) await utterance.decode();
  return utterance;
}

const loader = new CtcLoader();
const ctc = () => loader.load({ files: STAND_IN });
export const ctcWithBeam = () => loader.load({ files: STAND_IN, decoding: beamOf(8, 0.5) });
/** Decodes once for two chunks. */
export const ctcWithSteps = () => loader.load({ files: STAND_IN, stepChunks: 2 });

export const ctcWithCache = () => loader.load({ files: CACHED_STAND_IN });
export const ctcStreamed = () => loader.load({ files: STREAMED_STAND_IN });

const zipformer = () =>
  new ZipformerLoader().load({
    files: ZIPFORMER,
    chunkFrames: ZIPFORMER_CHUNK_FRAMES,
    decoding: beamOf(4, 0.3),
  });

interface Decoder {
  readonly name: string;
  readonly start: () => Promise<Subject>;
}

/** Starts a pool with these models. It must write the text that `load` writes in this process. */
function decoder(
  name: string,
  load: () => Promise<{ begin(): CtcUtterance | ZipformerUtterance }>,
  writeModels: () => string,
): Decoder {
  async function start(): Promise<Subject> {
    const modelsDir = writeModels();
    afterAll(() => rm(modelsDir, { recursive: true, force: true }));
    const { text } = (await recognise((await load()).begin())).transcript();
    return startPooledSubject({ modelsDir, model, speech: { pcm, text } });
  }
  return { name, start };
}

/** The decoders beside sherpa-onnx. */
export const DECODERS: readonly Decoder[] = [
  decoder('offline CTC', ctc, () => standInModels()),
  decoder('offline CTC with a beam and a language model', ctcWithBeam, () =>
    standInModels({ lm: LM, decoding: { ...weights(0.5), beam: 8 } }),
  ),
  decoder('offline CTC with steps of two chunks', ctcWithSteps, () =>
    standInModels(undefined, { step_ms: 2_240 }),
  ),
  decoder('offline CTC with cached features', ctcWithCache, cachedModels),
  decoder('offline CTC with cached keys and values', ctcStreamed, streamedModels),
  decoder('a Zipformer transducer with a beam and a language model', zipformer, () =>
    zipformerModels({ lm: LM, decoding: { ...weights(0.3), beam: 4 } }),
  ),
];
