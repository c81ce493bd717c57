import { execFile } from 'node:child_process';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../../..');
const PYTHON = join(ROOT, '.cache/python/bin/python');
const PYTHONPATH = ['sdk-python/src', 'integrations/pipecat/src', 'integrations/livekit-python/src']
  .map((path) => join(ROOT, 'clients', path))
  .join(delimiter);

/** Sends a WAV file as a Python client would. `client` is one of send_recording.py. */
export async function sendThroughPython(
  client: string,
  input: { readonly path: string; readonly env: Readonly<Record<string, string>> },
): Promise<void> {
  const env = { ...process.env, ...input.env, PYTHONPATH, PYTHONDONTWRITEBYTECODE: '1' };
  const script = join(import.meta.dirname, 'send_recording.py');
  await promisify(execFile)(PYTHON, [script, client, input.path], { env, timeout: 120_000 });
}
