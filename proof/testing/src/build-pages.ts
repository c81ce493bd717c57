import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../../..');
const PAGES = [
  {
    built: 'web/console/dist/site/index.html',
    folder: 'web/console',
    sources: [
      'web/console',
      'clients/sdk/src',
      'core/models/fixtures',
      'core/models/MODEL_CARD.md',
    ],
  },
  {
    built: 'web/site/dist/site/404.html',
    folder: 'web/site',
    sources: ['web/site', 'docs', 'CHANGELOG.md'],
  },
];
const IGNORED = ['(', '-name', 'dist', '-o', '-name', 'node_modules', ')', '-prune', '-o'];

/** Before the first test of the browser tier, builds the console and the documentation if their sources have changed. */
export async function setup(): Promise<void> {
  for (const { built, folder, sources } of PAGES) {
    if (await isCurrent(built, [...sources, 'core/protocol/src'])) continue;
    // Vitest sets NODE_ENV to `test`, which would build pages for development.
    const env = { ...process.env, NODE_ENV: 'production' };
    await run('npm', ['run', '-s', 'build', '--prefix', folder], { cwd: ROOT, env });
  }
}

async function isCurrent(built: string, sources: readonly string[]): Promise<boolean> {
  const changed = ['-type', 'f', '-newer', built, '-print', '-quit'];
  try {
    const { stdout } = await run('find', [...sources, ...IGNORED, ...changed], { cwd: ROOT });
    return stdout === '';
  } catch {
    return false; // It was never built.
  }
}
