import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const HEADING = '### From the README to the line that charges a session\n';
const LINES_MAX = 1_500;

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

function linesOf(text: string): number {
  return text.split('\n').length - 1;
}

const [, afterHeading = ''] = read('CONTRIBUTING.md').split(HEADING);
const [section = ''] = afterHeading.split(/^#/m);
const files = [...section.matchAll(/^\d+\. `([^`]+)`: /gm)].map(([, path = '']) => path);

test('a newcomer reads at most 1,500 lines from the README to the line that charges a session', () => {
  expect(files[0]).toBe('README.md');
  expect(files.length).toBe(section.match(/^\d+\. /gm)?.length);
  expect(files.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  const lines = files.map((path) => linesOf(read(path))).reduce((sum, count) => sum + count, 0);
  expect(lines + linesOf(section)).toBeLessThanOrEqual(LINES_MAX);
});

test('only the last file of the list has the statement that charges', () => {
  const charging = files.filter((path) =>
    /consumed_ms = consumed_ms \+ p_consumed/.test(read(path)),
  );
  expect(charging).toEqual(files.slice(-1));
});
