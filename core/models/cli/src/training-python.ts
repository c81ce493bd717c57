import { access } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../../..');
const PYTHON = join(ROOT, '.cache/training/bin/python');

/** Modules of training/ run in this folder. */
export const TRAINING_DIR = join(ROOT, 'training');
/** The command that makes the environment. */
export const MAKE_ENVIRONMENT = 'bash training/environment.sh';

/** The Python of the training environment, which has NeMo and onnx. Null when it isn't installed. */
export async function trainingPython(): Promise<string | null> {
  const named = process.env['NEMO_PYTHON'];
  if (named !== undefined) return named;
  return access(PYTHON).then(
    () => PYTHON,
    () => null,
  );
}
