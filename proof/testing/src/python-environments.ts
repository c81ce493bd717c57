import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** Before the first test that starts Python, makes the environments it needs. */
export function setup(): void {
  const script = join(import.meta.dirname, '../../../.ci/python-environment');
  const { status } = spawnSync('bash', [script, 'python', 'blackbox'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('The tests need Python. The reason is in the line above.');
}
