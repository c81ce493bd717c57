import { createServer } from 'node:net';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { ConfigError } from './config.ts';
import { connect } from './platform/database/db.ts';
import { explainStart } from './start-error.ts';

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (error: unknown) => error,
  );
}

test('a process that cannot start says why and what to do, without a stack trace', async () => {
  const unreachable = await failureOf(connect({ url: 'postgresql://svc:secret@127.0.0.1:1/svc' }));
  expect(explainStart(unreachable)).toMatch(
    /^The database cannot be reached: .* start it first\.$/,
  );

  const older = Object.assign(new Error('role "svc_node" does not exist'), { code: '22023' });
  expect(explainStart(older)).toMatch(/svc_node.*Run `svc-admin migrate` first\.$/);

  const denied = Object.assign(new Error('permission denied to set role'), { code: '42501' });
  expect(explainStart(denied)).toMatch(
    /Grant the roles that docs\/operations\/install\.md names\.$/,
  );

  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const second = createServer().listen(holder.address());
  const [taken]: unknown[] = await once(second, 'error');
  holder.close();
  expect(explainStart(taken)).toMatch(/EADDRINUSE.*set PORT to another/);

  const absent = await failureOf(readFile('/nowhere/cert.pem'));
  expect(explainStart(absent)).toMatch(/cert\.pem.*Check the settings that name files/);

  const unknown = Object.assign(new Error('database "svc" does not exist'), { code: '3D000' });
  expect(explainStart(unknown)).toMatch(/Database login failed.*Check DATABASE_URL\.$/);

  expect(explainStart(new ConfigError(['PORT is wrong']))).toContain('PORT is wrong');
});

test('an unexpected error keeps its stack trace', () => {
  expect(explainStart(new Error('surprise'))).toContain('start-error.test.ts');
});
