import { readFile } from 'node:fs/promises';
import { STAND_IN } from '@svc-asr/testing/speech/stand-in.ts';

const SPECIAL = ['[PAD]', '<s>', '</s>', '[UNK]'];

/** The labels of the CTC stand-in as wav2vec2 models are published with them: vocab.json. */
export async function vocabularyOfStandIn(): Promise<Buffer> {
  const lines = (await readFile(STAND_IN.tokens, 'utf8')).trimEnd().split('\n');
  const entries = lines.map((line, at) => {
    const name = line.slice(0, line.lastIndexOf(` ${at}`));
    return [SPECIAL[at] ?? (name.trim() || '|'), at];
  });
  return Buffer.from(JSON.stringify(Object.fromEntries(entries)));
}
