import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runAdmin } from '../../src/admin/program.ts';
import { parsePeppers } from '../../src/accounts/keys/peppers.ts';
import { onServer } from '@svc-asr/testing/postgres/test-database.ts';
import { withDatabase } from '@svc-asr/local/local-postgres.ts';

const ADMIN_URL = process.env['TEST_DATABASE_ADMIN_URL'] ?? '';
const names = [randomUUID(), randomUUID()].map((id) => `cell_${id.replaceAll('-', '')}`);
const [k1 = '', k2 = ''] = names.map((name) => withDatabase(ADMIN_URL, name));
const PEPPER = `1:${Buffer.alloc(32, 1).toString('base64')}`;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-edge-'));
  await onServer(ADMIN_URL, async (db) => {
    for (const name of names) await db.query(`create database ${name}`);
  });
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await onServer(ADMIN_URL, async (db) => {
    for (const name of names) await db.query(`drop database ${name} with (force)`);
  });
});

async function admin(env: Readonly<Record<string, string>>, ...words: readonly string[]) {
  let [out, err] = ['', ''];
  const status = await runAdmin(words, {
    env: { API_KEY_PEPPER: PEPPER, ...env },
    devFolder: '/nowhere',
    out: (text) => void (out += text),
    err: (text) => void (err += text),
  });
  return { status, out, err };
}

const create = (url: string, cell: string) =>
  admin(
    { DATABASE_URL: url },
    'cells',
    'create',
    cell,
    '--edge',
    folder,
    '--server',
    `${cell}.internal:8080`,
  );

/** The pepper that the command printed. */
const pepper = (text: string) => parsePeppers(/^API_KEY_PEPPER=(.+)$/m.exec(text)?.[1] ?? '');

test('one command makes an empty database a cell, with secrets, a backend and a map line', async () => {
  const first = await create(k1, 'k1');
  const second = await create(k2, 'k2');
  expect([pepper(first.err)?.[0].id, pepper(second.err)?.[0].id]).toEqual([1, 2]);
  const again = await create(k2, 'k2');
  expect(again).toMatchObject({ status: 0, err: '' });

  const map = await readFile(join(folder, 'cells.map'), 'utf8');
  expect(map).toBe('default k1\nsignup k1\nk1 k1\nk2 k2\n');
  const backend = await readFile(join(folder, 'backends/k2.cfg'), 'utf8');
  expect(backend).toContain('server k2-1 k2.internal:8080');
  const none = await admin({ DATABASE_URL: k2 }, 'cells', 'exceptions');
  expect(none).toEqual({ status: 0, out: '', err: '' });
  expect(await create(k2, 'k3')).toMatchObject({
    status: 1,
    err: expect.stringContaining('cell k2'),
  });
});

test('keys begin with their cell; a moved account is listed for the edge, and the move is logged', async () => {
  const source = { DATABASE_URL: k1, TARGET_DATABASE_URL: k2 };
  const account = await admin(source, 'accounts', 'create', '--name', 'Radio', '--json');
  const { id }: { id: string } = JSON.parse(account.out);
  const key = await admin(source, 'keys', 'create', id, '--json');
  const { key_id: keyId }: { key_id: string } = JSON.parse(key.out);
  expect(keyId).toMatch(/^k1/);
  const move = ['accounts', 'move', id, '--to', 'k2'];

  const unlinked = await admin(source, ...move);
  expect(unlinked).toMatchObject({ status: 1, err: expect.stringContaining('cells link') });
  expect((await admin({ ...source, TARGET_DATABASE_URL: k1 }, 'cells', 'link')).status).toBe(1);
  const linked = await admin(source, 'cells', 'link', '--json');
  expect(linked).toMatchObject({ status: 0, err: '' });
  expect(JSON.parse(linked.out)).toEqual({ cells: ['k1', 'k2'] });
  const refused = await admin(source, ...move);
  expect(refused).toMatchObject({ status: 1, err: expect.stringContaining('pepper 1') });
  for (const url of [k1, k2]) {
    await onServer(url, (db) =>
      db.query(`select report_peppers('{1}', array['\\x0102030405060708'::bytea])`),
    );
  }
  const moved = await admin(source, ...move);
  expect(moved).toMatchObject({
    status: 0,
    err: expect.stringMatching(/^freeze\ndrain\ncopy\nswitch\nopen\ndone\n/),
  });
  expect((await admin(source, ...move)).status).toBe(0);
  const shown = await admin(source, 'accounts', 'show', id, '--json');
  expect(JSON.parse(shown.out)).toMatchObject({ move: 'moved k2' });
  const listed = await admin(source, 'cells', 'exceptions', '--json');
  expect(JSON.parse(listed.out)).toEqual([{ key_id: keyId, cell: 'k2' }]);
  expect((await admin(source, 'cells', 'exceptions')).out).toBe(`${keyId} k2\n`);
  const log = await admin({ DATABASE_URL: k2 }, 'audit-log', '--json');
  expect(log.out).toContain('accounts move');
});

test('refuses the wrong database, a missing setting and an unknown account', async () => {
  const unknown = ['accounts', 'move', randomUUID(), '--to'];
  const both = { DATABASE_URL: k1, TARGET_DATABASE_URL: k2 };
  expect(await admin(both, ...unknown, 'k9')).toMatchObject({
    status: 1,
    err: expect.stringContaining('not k9'),
  });
  expect(await admin(both, ...unknown, 'k2')).toMatchObject({
    status: 1,
    err: expect.stringContaining('no such account'),
  });
  expect(await admin({ DATABASE_URL: k1 }, ...unknown, 'k2')).toMatchObject({ status: 2 });
  expect(await admin(both, 'accounts', 'move', randomUUID(), '--cancel')).toMatchObject({
    status: 1,
  });
});
