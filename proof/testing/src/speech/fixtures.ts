import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ModelId } from '@svc-asr/protocol';

const ROOT = join(import.meta.dirname, '../../../..');
export const MODELS_DIR = process.env['MODELS_DIR'] ?? join(ROOT, 'core/models');

const FIXTURES = join(ROOT, 'core/models/fixtures');
const MODEL_OF = { kikuyu: 'svc-asr-kikuyu-v1', dholuo: 'svc-asr-dholuo-v1' } as const;

export interface Speech {
  readonly name: string;
  readonly model: ModelId;
  readonly pcm: Uint8Array;
  /** The recorded transcript: exactly what these weights recognise. */
  readonly expected: string;
}

/** Every fixture sentence: 16 kHz mono s16le. */
export const SPEECH: readonly Speech[] = (['kikuyu', 'dholuo'] as const).flatMap((language) =>
  [1, 2, 3, 4].map((number) => {
    const name = `${language}-${number}`;
    return {
      name,
      model: MODEL_OF[language],
      pcm: readPcm(join(FIXTURES, `${name}.wav`)),
      expected: readFileSync(join(FIXTURES, `${name}.expected.txt`), 'utf8').trim(),
    };
  }),
);

export function speech(name: string): Speech {
  const found = SPEECH.find((sentence) => sentence.name === name);
  if (found === undefined) throw new RangeError(`No fixture ${name}.`);
  return found;
}

function readPcm(path: string): Uint8Array {
  const file = readFileSync(path);
  for (let at = 12; at + 8 <= file.length;) {
    const bytes = file.readUInt32LE(at + 4);
    if (file.toString('latin1', at, at + 4) === 'data') {
      return new Uint8Array(file.subarray(at + 8, at + 8 + bytes));
    }
    at += 8 + bytes + (bytes % 2);
  }
  throw new RangeError(`${path} contains no audio.`);
}
