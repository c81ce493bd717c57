import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findForbiddenImports } from './rooms.ts';

test('no room imports another by a door that is not there', async () => {
  expect(await findForbiddenImports(join(import.meta.dirname, '..'))).toEqual([]);
});

test('a forbidden import is found, whether by package name or by path', async () => {
  const root = await mkdtemp(join(tmpdir(), 'rooms-'));
  try {
    await mkdir(join(root, 'engine/src'), { recursive: true });
    await writeFile(join(root, 'engine/src/a.ts'), `import { x } from '@svc-asr/server';\n`);
    await writeFile(join(root, 'engine/src/b.ts'), `export * from '../../server/src/db.ts';\n`);
    await writeFile(join(root, 'engine/src/c.ts'), `import { y } from '@svc-asr/protocol';\n`);
    expect((await findForbiddenImports(root)).toSorted()).toEqual([
      'engine/src/a.ts imports server: engine may not',
      'engine/src/b.ts imports server: engine may not',
    ]);
  } finally {
    await rm(root, { recursive: true });
  }
});
