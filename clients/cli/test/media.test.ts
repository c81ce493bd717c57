import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { record } from '../src/media.ts';

test('a recorder is read while the service takes no audio', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'recorder-'));
  const done = join(folder, 'done');
  const tenSeconds = `process.stdout.write(Buffer.alloc(320_000), () =>
    require('node:fs').writeFileSync(${JSON.stringify(done)}, ''))`;
  const recorder = { program: process.execPath, args: () => ['-e', tenSeconds] };
  const audio = record(recorder, undefined, new AbortController().signal);
  await audio.next();
  await expect.poll(() => existsSync(done)).toBe(true);
  await audio.return(undefined);
  await rm(folder, { recursive: true });
});
