import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

/** Third-party tools that the texts run with npx. All other packages must be ours, and ours are scoped. */
const THIRD_PARTY = new Set(['esbuild', 'jest', 'node', 'pnpm', 'vitest']);

const NPX = /\bnpx((?: +-{1,2}[a-z]\S*)*) +((?:@[\w-]+\/)?[a-z][\w-]*)/g;

/** Returns every `npx NAME` in documentation, help and messages. */
function npxCommands(): { readonly file: string; readonly name: string }[] {
  const files = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' })
    .split('\0')
    .filter((file) => /\.(md|ts|tsx|html|txt|json|yml|sh|py)$/.test(file))
    .filter((file) => file !== 'proof/repository/npx-commands.test.ts');
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

test.each([
  ['@svc-asr/cli', /^Usage: svc /],
  ['@svc-asr/emulator', /^Usage: svc-emulator /],
  ['@svc-asr/compatible', /^Usage: svc-compatible /],
  ['@svc-asr/telephony', /^Usage: svc-telephony /],
])('npx %s runs the package of the clone, without a registry', (name, usage) => {
  const help = execFileSync('npx', ['--offline', name, '--help'], { cwd: ROOT, encoding: 'utf8' });
  expect(help).toMatch(usage);
});
