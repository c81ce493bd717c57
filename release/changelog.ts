import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { collectChanges, type Change } from './collect-changes.ts';

/** `node release/changelog.ts VERSION DATE` moves the files in release/changes/ to a section of CHANGELOG.md. */
const ROOT = resolve(import.meta.dirname, '..');
const FOLDER = join(import.meta.dirname, 'changes');
const CHANGELOG = join(ROOT, 'CHANGELOG.md');

const [version, date] = process.argv.slice(2);
if (version === undefined || date === undefined) {
  process.stderr.write('Usage: node release/changelog.ts VERSION DATE\n');
  process.exitCode = 2;
} else {
  const files = (await readdir(FOLDER)).filter((file) => file !== 'README.md').toSorted();
  const changes = await Promise.all(
    files.map(async (file): Promise<Change> => ({
      file,
      text: await readFile(join(FOLDER, file), 'utf8'),
    })),
  );
  const text = collectChanges(await readFile(CHANGELOG, 'utf8'), changes, { version, date });
  await writeFile(CHANGELOG, text);
  for (const file of files) await rm(join(FOLDER, file));
}
