import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { connect, type Client } from '../../src/platform/database/db.ts';
import { declaredStatements } from '../../src/platform/database/statement.ts';
import { checkStatements } from '../support/check-statements.ts';

const SOURCE = fileURLToPath(new URL('../../src/', import.meta.url));

let database: TestDatabase;
let db: Client;
beforeAll(async () => {
  for (const file of await sourceFiles()) {
    if (!file.endsWith('main.ts')) await import(join(SOURCE, file));
  }
});
beforeEach(async () => {
  database = await createTestDatabase();
  db = await connect({ url: database.url });
});
afterEach(async () => {
  await db.end();
  await database.drop();
});

async function sourceFiles(): Promise<string[]> {
  const files = await readdir(SOURCE, { recursive: true });
  return files.filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'));
}

test('every statement returns the columns, types and nullability that it declares', async () => {
  expect(declaredStatements().length).toBeGreaterThan(50);
  expect(await checkStatements(db, declaredStatements())).toEqual([]);
});

test.for([
  ['a renamed column', 'alter table sessions rename column audio_ms to audio', 'audio_ms'],
  [
    'a changed type',
    'alter table passkeys alter column counter type numeric',
    'counter is numeric',
  ],
  [
    'a column that may be null now',
    'alter table nodes alter public_url drop not null',
    'can be null',
  ],
  [
    'a column that is never null now',
    'delete from api_keys; alter table api_keys alter scopes set not null',
    'scopes is never null',
  ],
  [
    'a renamed output of a function',
    `alter function claim_session rename to old_claim_session;
      create function claim_session(uuid, uuid, uuid, text, integer, out outcome text, out model text,
        out reserved integer, out allowed_origins text[]) language plpgsql as 'begin end'`,
    'does not return reserved_ms',
  ],
] as const)('reports %s', async ([, change, problem]) => {
  await db.query(change);
  expect((await checkStatements(db, declaredStatements())).join('\n')).toContain(problem);
});
