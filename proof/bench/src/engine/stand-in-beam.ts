import { join } from 'node:path';
import type { StandInDecoding } from '@svc-asr/testing/speech/stand-in.ts';

/** A beam search and a language model for the stand-in. */
export const STAND_IN_BEAM: StandInDecoding = {
  lm: join(import.meta.dirname, '../../../../core/engine/test/lm/characters.bin'),
  decoding: { unit: 'character', alpha: 0.5, beta: 0.5, beam: 16 },
};
