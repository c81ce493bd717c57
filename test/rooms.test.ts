import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { findForbiddenImports } from './rooms.ts';

async function problemsOf(files: Readonly<Record<string, string>>): Promise<string[]> {
  const root = await mkdtemp(join(tmpdir(), 'rooms-'));
  try {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(join(root, dirname(path)), { recursive: true });
      await writeFile(join(root, path), text);
    }
    return (await findForbiddenImports(root)).toSorted();
  } finally {
    await rm(root, { recursive: true });
  }
}

test('no room imports a room that the tables do not allow', async () => {
  expect(await findForbiddenImports(join(import.meta.dirname, '..'))).toEqual([]);
});

test('finds a forbidden import by package name and by path', async () => {
  const problems = await problemsOf({
    'engine/src/a.ts': `import { x } from '@svc-asr/server';\n`,
    'engine/src/b.ts': `export * from '../../server/src/platform/db.ts';\n`,
    'engine/src/c.ts': `import { y } from '@svc-asr/protocol';\n`,
  });
  expect(problems).toEqual([
    'engine/src/a.ts imports server: engine may not',
    'engine/src/b.ts imports server: engine may not',
  ]);
});

test('allows testing/ in tests only, and local/ in development scripts too', async () => {
  const text = `import '@svc-asr/testing/a.ts';\nimport '@svc-asr/local/b.ts';\n`;
  const problems = await problemsOf({
    'server/src/a.ts': text,
    'server/scripts/b.ts': text,
    'server/test/http/c.test.ts': text,
  });
  expect(problems).toEqual([
    'server/scripts/b.ts imports testing: server may not',
    'server/src/a.ts imports local: server may not',
    'server/src/a.ts imports testing: server may not',
  ]);
});

test('forbids importing the test folder of another package', async () => {
  const problems = await problemsOf({
    'bench/src/a.ts': `import { x } from '@svc-asr/server/test/x.ts';\n`,
  });
  expect(problems).toEqual(['bench/src/a.ts imports a test folder: @svc-asr/server/test/x.ts']);
});

test('inside server, doors do not import doors and platform imports nothing above it', async () => {
  const problems = await problemsOf({
    'server/src/http/a.ts': `import { x } from '../gateway/x.ts';\n`,
    'server/src/platform/b.ts': `import { x } from '../ledger/x.ts';\n`,
    'server/src/gateway/c.ts': `import { x } from '../ledger/x.ts';\n`,
    'server/src/server.ts': `import { x } from './gateway/c.ts';\n`,
    'server/src/billing/d.ts': `import { x } from '../platform/x.ts';\n`,
  });
  expect(problems).toEqual([
    'server/src/billing/d.ts: add billing to the table in test/rooms.ts',
    'server/src/http/a.ts imports server/src/gateway: http may not',
    'server/src/platform/b.ts imports server/src/ledger: platform may not',
  ]);
});

test('inside engine, no folder imports one above it', async () => {
  const problems = await problemsOf({
    'engine/src/ctc/a.ts': `import { x } from '../recognisers/x.ts';\n`,
    'engine/src/recognisers/b.ts': `import { x } from '../ctc/a.ts';\n`,
    'engine/src/replay/c.ts': `import { x } from '../engine.ts';\n`,
    'engine/src/index.ts': `import { x } from './node/x.ts';\n`,
  });
  expect(problems).toEqual(['engine/src/ctc/a.ts imports engine/src/recognisers: ctc may not']);
});
