import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { pythonWire } from './python-wire.ts';

const SCRIPT = join(import.meta.dirname, 'python_api.py');

/** Returns docs/reference/python.md, from the source with the generated module as it should be. */
export async function pythonPage(root: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'python-api-'));
  try {
    await cp(join(root, 'clients/sdk-python/src/svc_asr'), folder, { recursive: true });
    await writeFile(join(folder, 'wire.py'), pythonWire());
    const { stdout } = await promisify(execFile)('python3', [SCRIPT, folder]);
    return `${stdout.trimEnd()}\n`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
