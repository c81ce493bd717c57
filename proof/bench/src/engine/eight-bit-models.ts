import { execFile } from 'node:child_process';
import { access, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { MODELS_DIR } from '@svc-asr/testing/speech/fixtures.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const PYTHON = join(ROOT, '.cache/training/bin/python');
const WEIGHTS = 'demo-int8';

/**
 * Creates a models directory with the bundled weights in 8 bits, one activation scale per frame. The caller removes it.
 * Null without the training environment, which quantises them.
 */
export async function eightBitModels(): Promise<string | null> {
  const isInstalled = await access(PYTHON).then(
    () => true,
    () => false,
  );
  if (!isInstalled) return null;
  const models = await mkdtemp(join(tmpdir(), 'eight-bit-'));
  const python = (args: readonly string[]) =>
    promisify(execFile)(PYTHON, ['-m', ...args], { cwd: join(ROOT, 'training') });
  await python(['speech.weights.quantise_frames', join(MODELS_DIR, 'demo'), join(models, WEIGHTS)]);
  await python([
    'speech.weights.manifest',
    '--models',
    models,
    '--weights',
    WEIGHTS,
    '--build',
    WEIGHTS,
  ]);
  return models;
}

/** The same for campaigns that were asked to run with these weights. */
export async function requireEightBitModels(): Promise<string> {
  const models = await eightBitModels();
  if (models !== null) return models;
  throw new Error(
    '8-bit weights are made by the training environment: bash training/environment.sh',
  );
}
