import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { findCircles, findUpwardImports, readImports } from './import-graph.ts';
import { findForbiddenImports, findLargeFolders } from './rooms.ts';

const ROOT = join(import.meta.dirname, '../..');

function trackedFiles(): string[] {
  return execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n');
}

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
  expect(await findForbiddenImports(ROOT)).toEqual([]);
});

test('no module imports one of a floor above it, and none import each other', async () => {
  const graph = await readImports(ROOT, trackedFiles());
  expect(graph.get('core/server/src/gateway/gateway.ts')).toContain('core/runtime/src/network.ts');
  expect(findUpwardImports(graph)).toEqual([]);
  expect(findCircles(graph)).toEqual([]);
});

test('finds upward imports, and circles of modules and of folders', () => {
  const graph = new Map(
    Object.entries({
      'core/a/src/one.ts': new Set(['core/a/src/two.ts', 'clients/b/src/x.ts']),
      'core/a/src/two.ts': new Set(['core/a/src/three.ts']),
      'core/a/src/three.ts': new Set(['core/a/src/one.ts']),
      'core/a/src/low/a.ts': new Set(['core/a/src/high/b.ts']),
      'core/a/src/high/b.ts': new Set<string>(),
      'core/a/src/high/c.ts': new Set(['core/a/src/low/d.ts']),
      'core/a/src/low/d.ts': new Set<string>(),
      'proof/c/src/y.ts': new Set(['core/a/src/one.ts']),
      'clients/b/src/x.ts': new Set<string>(),
    }),
  );
  expect(findUpwardImports(graph)).toEqual([
    'core/a/src/one.ts imports clients/b/src/x.ts, which stands above it',
  ]);
  expect(findCircles(graph)).toEqual([
    'core/a/src/one.ts, core/a/src/three.ts, core/a/src/two.ts import each other',
    'core/a/src/one.ts, core/a/src/three.ts, core/a/src/two.ts import each other',
    'core/a/src/high, core/a/src/low import each other',
  ]);
});

test('no folder has more than 25 source files side by side', () => {
  expect(findLargeFolders(trackedFiles())).toEqual([]);
  const many = Array.from({ length: 26 }, (_, number) => `core/x/${number}.ts`);
  expect(findLargeFolders([...many, 'core/x/a.test.ts'])).toEqual(['core/x has 26 source files']);
});

test('finds a forbidden import by package name and by path', async () => {
  const problems = await problemsOf({
    'core/engine/src/a.ts': `import { x } from '@svc-asr/server';\n`,
    'core/engine/src/b.ts': `export * from '../../server/src/platform/db.ts';\n`,
    'core/engine/src/c.ts': `import { y } from '@svc-asr/protocol';\n`,
  });
  expect(problems).toEqual([
    'core/engine/src/a.ts imports server: engine may not',
    'core/engine/src/b.ts imports server: engine may not',
  ]);
});

test('forbids modules of Node in the protocol', async () => {
  const text = `import { isIP } from 'node:net';\n`;
  const problems = await problemsOf({
    'core/protocol/src/a.ts': text,
    'core/protocol/test/a.test.ts': text,
    'core/runtime/src/a.ts': text,
  });
  expect(problems).toEqual([
    'core/protocol/src/a.ts imports node:net: browsers load the protocol too',
  ]);
});

test('allows testing in tests only, and local in development scripts too', async () => {
  const text = `import '@svc-asr/testing/a.ts';\nimport '@svc-asr/local/b.ts';\n`;
  const problems = await problemsOf({
    'core/server/src/a.ts': text,
    'core/server/scripts/b.ts': text,
    'core/server/test/http/c.test.ts': text,
  });
  expect(problems).toEqual([
    'core/server/scripts/b.ts imports testing: server may not',
    'core/server/src/a.ts imports local: server may not',
    'core/server/src/a.ts imports testing: server may not',
  ]);
});

test('forbids importing the test folder of another package', async () => {
  const problems = await problemsOf({
    'proof/bench/src/a.ts': `import { x } from '@svc-asr/server/test/x.ts';\n`,
  });
  expect(problems).toEqual([
    'proof/bench/src/a.ts imports a test folder: @svc-asr/server/test/x.ts',
  ]);
});

test('inside server, doors do not import doors and platform imports nothing above it', async () => {
  const problems = await problemsOf({
    'core/server/src/http/a.ts': `import { x } from '../gateway/x.ts';\n`,
    'core/server/src/platform/b.ts': `import { x } from '../ledger/x.ts';\n`,
    'core/server/src/gateway/c.ts': `import { x } from '../ledger/x.ts';\n`,
    'core/server/src/server.ts': `import { x } from './gateway/c.ts';\n`,
    'core/server/src/billing/d.ts': `import { x } from '../platform/x.ts';\n`,
  });
  expect(problems).toEqual([
    'core/server/src/billing/d.ts: add billing to the table in proof/repository/rooms.ts',
    'core/server/src/http/a.ts imports core/server/src/gateway: http may not',
    'core/server/src/platform/b.ts imports core/server/src/ledger: platform may not',
  ]);
});

test('inside engine, no folder imports one above it', async () => {
  const problems = await problemsOf({
    'core/engine/src/ctc/a.ts': `import { x } from '../recognisers/x.ts';\n`,
    'core/engine/src/recognisers/b.ts': `import { x } from '../ctc/a.ts';\n`,
    'core/engine/src/replay/c.ts': `import { x } from '../engine.ts';\n`,
    'core/engine/src/index.ts': `import { x } from './node/x.ts';\n`,
  });
  expect(problems).toEqual([
    'core/engine/src/ctc/a.ts imports core/engine/src/recognisers: ctc may not',
  ]);
});
