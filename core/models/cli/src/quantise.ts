import { execFile } from 'node:child_process';
import { copyFile, open, readFile, rename, rm } from 'node:fs/promises';
import { arch } from 'node:os';
import { promisify } from 'node:util';
import { Problem } from './problem.ts';
import { toSignedWeights } from './graph/signed-weights.ts';
import { MAKE_ENVIRONMENT, TRAINING_DIR, trainingPython } from './training-python.ts';

/** Operators of 8-bit weights. */
const QUANTISED = 'MatMulInteger';
/** Instructions that multiply unsigned by signed bytes without rounding sums to 16 bits. */
const EXACT = /\b(?:avx512_vnni|avx_vnni|amx_int8)\b/;

/** Where ONNX Runtime computes products of any signed 8-bit weights exactly: not on x86 without VNNI or AMX. */
export async function signedIsExact(): Promise<boolean> {
  if (arch() !== 'x64') return true;
  return EXACT.test(await readFile('/proc/cpuinfo', 'utf8').catch(() => ''));
}

/** Rewrites a downloaded model with signed 8-bit weights and returns a sentence about what it did. */
export async function quantise(path: string, { isExact }: { isExact: boolean }): Promise<string> {
  const model = await readFile(path);
  if (!model.includes(QUANTISED)) return quantiseFloats(path);
  if (!isExact) {
    return (
      'Kept the weights as published: this processor has neither VNNI nor AMX, without which published 8-bit ' +
      'weights lose accuracy when they become signed.'
    );
  }
  const { parts, matrices } = toSignedWeights(model);
  if (matrices === 0) return 'Kept the weights as published: they are signed 8-bit weights.';
  await rewrite(path, async (written) => {
    const file = await open(written, 'w');
    try {
      for (const part of parts) await file.writeFile(part);
    } finally {
      await file.close();
    }
  });
  return `Stored ${matrices} unsigned 8-bit matrices as signed ones: the same results in less time.`;
}

async function quantiseFloats(path: string): Promise<string> {
  const python = await trainingPython();
  if (python === null) {
    return (
      'Kept the weights as published: they are not 8-bit, and quantising them needs the training environment ' +
      `(2.3 GB). For more than twice the streams, run ${MAKE_ENVIRONMENT} and fetch again.`
    );
  }
  try {
    await rewrite(path, async (written) => {
      await copyFile(path, written);
      await promisify(execFile)(python, ['-m', 'speech.weights.quantise', written], {
        cwd: TRAINING_DIR,
      });
    });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Problem(`The weights could not be quantised. --as-published skips it.\n${reason}`);
  }
  return 'Quantised the weights to signed 8-bit ones. Compare them with --as-published on recordings.';
}

/** Replaces a file as a whole. Its name may be one of several of the download, which stays. */
async function rewrite(path: string, write: (written: string) => Promise<void>): Promise<void> {
  const written = path.replace(/\.onnx$/, '.signed.onnx');
  try {
    await write(written);
    await rename(written, path);
  } finally {
    await rm(written, { force: true });
  }
}
