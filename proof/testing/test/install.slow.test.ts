import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { access, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLocalRegistry, type LocalRegistry } from '../src/local-registry.ts';

const ROOT = resolve(import.meta.dirname, '../../..');
const PYTHON = join(ROOT, '.cache/python/bin');
const run = promisify(execFile);

/** The table of docs/guides/install.md. */
const ROWS = readFileSync(join(ROOT, 'docs/guides/install.md'), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, name, page, today, later] =
      /^\| \[`([^`]+)`\]\(([^)]+)\)[^|]*\| `([^`]+)` \| `([^`]+)` \|$/.exec(line) ?? [];
    if (name === undefined || page === undefined) return [];
    return [{ name, page, today: today ?? '', later: later ?? '' }];
  });

/** How a user finds out that a package works. */
const USES: Readonly<Record<string, string>> = {
  '@svc-asr/sdk': 'node -e "import(process.argv[1])" @svc-asr/sdk/stream',
  '@svc-asr/cli': 'global/bin/svc --version',
  '@svc-asr/emulator': 'npx --offline @svc-asr/emulator --version',
  '@svc-asr/compatible': 'npx --offline @svc-asr/compatible --help',
  // LiveKit itself, a peer dependency, is hundreds of megabytes. The integration's own test runs it.
  '@svc-asr/livekit':
    'test -e node_modules/@svc-asr/livekit/index.js -a -e node_modules/@svc-asr/sdk',
  '@svc-asr/telephony': 'npx --offline @svc-asr/telephony --help',
  'svc-asr': 'python3 -c "import svc_asr"',
  'svc-asr-livekit': 'python3 -c "import svc_asr_livekit"',
  'svc-asr-pipecat': 'python3 -c "import svc_asr_pipecat"',
};

let folder: string;
let registry: LocalRegistry;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'install-'));
  await symlink(ROOT, join(folder, 'svc-asr'));
  registry = await startLocalRegistry(join(folder, 'npm-cache'));
});
afterAll(async () => {
  await registry.close();
  await rm(folder, { recursive: true });
});

/** A user's settings, without the internet: npm's packages come from this clone, pip's are those of the test environment. */
function environment(project: string): NodeJS.ProcessEnv {
  return {
    PATH: [PYTHON, dirname(process.execPath), process.env['PATH']].join(':'),
    HOME: project,
    ...registry.env,
    npm_config_prefix: join(project, 'global'),
    npm_config_legacy_peer_deps: 'true',
    PIP_NO_INDEX: '1',
    PIP_NO_DEPS: '1',
    // "false" means: build without isolation, with the hatchling that is installed.
    PIP_NO_BUILD_ISOLATION: 'false',
    PIP_TARGET: join(project, 'python'),
    PYTHONPATH: join(project, 'python'),
  };
}

describe('docs/guides/install.md', () => {
  test.each(ROWS)('$name: the line from a clone works in a clean folder', async (row) => {
    const project = join(folder, `project-${row.name.replace('/', '-')}`);
    await mkdir(project);
    const options = { cwd: project, env: environment(project) };
    await run('sh', ['-c', row.today], options);
    const use = USES[row.name] ?? 'false';
    await expect(run('sh', ['-c', use], options)).resolves.toBeDefined();
  });

  test('lists every package, and their pages link to it instead of naming a registry', async () => {
    expect(ROWS.map(({ name }) => name)).toEqual(Object.keys(USES));
    for (const { page, later } of ROWS) {
      const path = resolve(ROOT, 'docs/guides', page);
      await access(path);
      const text = readFileSync(path, 'utf8');
      expect(text).toContain('docs/guides/install.md');
      expect(text).not.toContain(later);
    }
  });
});
