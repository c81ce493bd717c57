import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { readSecretFiles } from '../../src/platform/secret-files.ts';

const run = promisify(execFile);
const SECRET_FILES = new URL('../../src/platform/secret-files.ts', import.meta.url).href;

/** Spawns a child as a recogniser is spawned, which tries to read its parent's environment. */
const SCRIPT = `
  import { spawnSync } from 'node:child_process';
  import { readSecretFiles } from ${JSON.stringify(SECRET_FILES)};
  const secret = readSecretFiles(process.env).API_KEY_PEPPER;
  const user = process.env.AS_USER ? { uid: 65534, gid: 65534 } : {};
  const { stdout } = spawnSync('/bin/cat', ['/proc/' + process.pid + '/environ'], {
    ...user,
    env: {},
    encoding: 'latin1',
  });
  console.log(JSON.stringify({ knows: secret.length > 0, leaked: stdout.includes(secret), read: stdout.length }));`;

async function attack(env: Record<string, string>): Promise<Record<string, unknown>> {
  const args = ['--input-type=module-typescript', '-e', SCRIPT];
  const { stdout } = await run(process.execPath, args, { env: { PATH: '/usr/bin:/bin', ...env } });
  return JSON.parse(stdout);
}

test('a child cannot find a secret in the environment of a service that reads it from a file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'secrets-'));
  try {
    const secret = randomBytes(32).toString('base64');
    const file = join(folder, 'pepper');
    await writeFile(file, `${secret}\n`);
    await chmod(file, 0o600);
    // The attack works on a secret in the environment, so the test below can fail.
    expect(await attack({ API_KEY_PEPPER: secret })).toMatchObject({ leaked: true });
    expect(await attack({ API_KEY_PEPPER_FILE: file })).toMatchObject({
      knows: true,
      leaked: false,
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});

test.runIf(process.getuid?.() === 0)(
  'a child of another user cannot read the environment of the service at all',
  async () => {
    const secret = randomBytes(32).toString('base64');
    const seen = await attack({ API_KEY_PEPPER: secret, AS_USER: '1' });
    expect(seen).toEqual({ knows: true, leaked: false, read: 0 });
  },
);

test('names a secret that is set twice or whose file is missing', () => {
  const twice = { SMTP_URL: 'smtp://a', SMTP_URL_FILE: '/x' };
  expect(() => readSecretFiles(twice)).toThrow('Set SMTP_URL or SMTP_URL_FILE, not both.');
  expect(() => readSecretFiles({ SMTP_URL_FILE: '/nowhere/x' })).toThrow('SMTP_URL_FILE');
});
