import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { generateApiKey } from '../../src/accounts/keys/format.ts';

const LOG = pathToFileURL(join(import.meta.dirname, '../../src/platform/observe/log.ts')).href;

test('K04 logs an uncaught error in full, redacted, and exits with 1', async () => {
  const { key } = generateApiKey();
  const script = `
    import { createLog, endOnUncaught } from ${JSON.stringify(LOG)};
    endOnUncaught(createLog({ level: 'info' }));
    setTimeout(() => { throw new Error('lost with ' + process.env.SECRET); }, 1);
    setTimeout(() => {}, 60_000);`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
    env: { ...process.env, SECRET: key },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  expect(status).toBe(1);
  expect(out).toContain('lost with [redacted]');
  expect(out + err).not.toContain(key);
});

test('without settings the service lists the required ones and exits with 1', async () => {
  const main = join(import.meta.dirname, '../../src/main.ts');
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [err, [status]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  expect(status).toBe(1);
  for (const name of [
    'DATABASE_URL',
    'PUBLIC_STREAM_URL',
    'API_KEY_PEPPER',
    'SESSION_SIGNING_KEYS',
  ]) {
    expect(err).toContain(name);
  }
});
