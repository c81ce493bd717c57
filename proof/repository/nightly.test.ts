import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ENDPOINTING } from '@svc-asr/protocol';
import { expect, test } from 'vitest';
import { STORM_NAMES } from '../simulate/src/storm/storm-names.ts';
import { TIERS } from './tiers.ts';

const ROOT = join(import.meta.dirname, '../..');
const listed = execFileSync('bash', ['.ci/nightly', '--list'], { cwd: ROOT })
  .toString()
  .trim()
  .split('\n');

function campaigns(kind: string): string[] {
  const files = globSync(join(ROOT, 'proof/bench/src', kind, '**/*.ts'));
  return files.map((file) => `${kind} ${basename(file, '.ts')}`);
}

test('the night runs every tier, campaign and benchmark once, and nothing that does not exist', () => {
  const storms = STORM_NAMES.map((name) => `--storm ${name} --streams 1000`);
  const simulations = ['--seeds 50000', '--mutants', '--equivalence --seeds 500', ...storms];
  const turns = ENDPOINTING.detectors.map((detector) => ` --turns --detector ${detector}`);
  const others = [
    ...simulations.map((form) => `simulate ${form}`),
    ...['', ' --codecs', ...turns].map((form) => `eval${form}`),
    'prove kill-engine 20 streamed',
    'deploy',
    'training',
  ];
  const tiers = TIERS.map((tier) => `test:${tier}`);
  const expected = [...tiers, ...campaigns('prove'), ...campaigns('bench'), ...others];
  expect(listed.toSorted()).toEqual(expected.toSorted());
});

test('the nightly workflow takes its steps from .ci/nightly, and installs what only they need', () => {
  const workflow = readFileSync(join(ROOT, '.github/workflows/nightly.yml'), 'utf8');
  expect(workflow).toContain('bash .ci/nightly --list');
  expect(workflow).toContain('bash .ci/bootstrap nightly');
});

test('a failed step does not stop the others, shows its output again and fails the run', () => {
  const script = `. .ci/steps.sh
    run() { echo "said by $1" && [ "$1" != second ]; }
    export -f run
    printf '%s\\n' first second | alone
    echo third | together 2
    printf '%s\\n' first second third | judge`;
  const { status, stdout } = spawnSync('bash', ['-c', script], { cwd: ROOT, encoding: 'utf8' });
  expect(status).toBe(1);
  const lines = stdout.trim().split('\n');
  expect(lines.filter((line) => / s, CPU \d+ s\)$/.test(line))).toEqual([
    expect.stringMatching(/^── first: passed \(/),
    expect.stringMatching(/^── second: FAILED \(/),
    expect.stringMatching(/^── third: passed \(/),
  ]);
  expect(lines.slice(-3)).toEqual(['said by second', '── second: FAILED', '2 passed, 1 failed']);
});
