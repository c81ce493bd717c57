import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..');

/** Third-party tools that the texts run with npx. All other packages must be ours, and ours are scoped. */
const THIRD_PARTY = new Set(['esbuild', 'node', 'pnpm', 'vitest']);

const NPX = /\bnpx((?: +-{1,2}[a-z]\S*)*) +((?:@[\w-]+\/)?[a-z][\w-]*)/g;

/** Returns every `npx NAME` in documentation, help and messages. */
function npxCommands(): { readonly file: string; readonly name: string }[] {
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' })
    .split('\0')
    .filter((file) => /\.(md|ts|tsx|html|txt|json|yml|sh|py)$/.test(file))
    .filter((file) => file !== 'test/npx-commands.test.ts');
  return files.flatMap((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    return [...text.matchAll(NPX)].map(([, , name = '']) => ({ file, name }));
  });
}

test('no text runs one of our packages with npx without its scope, which could run another author’s package', () => {
  const commands = npxCommands();
  const ours = commands.filter(({ name }) => name.startsWith('@svc-asr/'));
  expect(ours.length).toBeGreaterThan(5);
  const strangers = commands.filter(
    ({ name }) => !name.startsWith('@svc-asr/') && !THIRD_PARTY.has(name),
  );
  expect(strangers).toEqual([]);
});

test.each(['@svc-asr/cli', '@svc-asr/emulator'])(
  'npx %s runs the package of the clone, without a registry',
  (name) => {
    const version = execFileSync('npx', ['--offline', name, '--version'], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    const { version: expected } = JSON.parse(
      readFileSync(join(ROOT, name.replace('@svc-asr/', ''), 'package.json'), 'utf8'),
    );
    expect(version.trim()).toBe(expected);
  },
);
