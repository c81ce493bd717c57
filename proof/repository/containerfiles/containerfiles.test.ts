import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { layOut } from './lay-out.ts';
import { run } from './run.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** Each Containerfile with its build context, and the programs of its image with words that they print
 * without valid settings. */
const CONTAINERFILES = [
  {
    file: 'deploy/Containerfile',
    context: '.',
    programs: {
      'core/server/src/main.ts': 'DATABASE_URL must be',
      'core/server/src/admin/main.ts': 'Usage: svc-admin',
      'core/engine/src/node/main.ts': 'METRICS_PORT must be',
    },
  },
  {
    file: 'deploy/Containerfile.compatible',
    context: '.',
    programs: {
      'clients/integrations/compatible/src/main.ts': 'Usage: svc-compatible',
      'clients/integrations/telephony/src/main.ts': 'Usage: svc-telephony',
    },
  },
  ...['bare-machine', 'stand-ins', 'systemd-box'].map((name) => ({
    file: `deploy/try/${name}/Containerfile`,
    context: `deploy/try/${name}`,
    programs: {},
  })),
];

/** What only tests need. An image has none of it. */
const FOR_TESTS = [
  '{core,clients}/{*,*/*}/{test,vectors,scripts}',
  '{core,clients}/*/{src,sql}/**/{*.test.ts,schema.sql}',
];

test.each(CONTAINERFILES)(
  '$file builds from the files that its stages copy, and its programs start',
  async ({ file, context, programs }) => {
    const out = await mkdtemp(join(tmpdir(), 'containerfile-'));
    onTestFinished(() => rm(out, { recursive: true, force: true }));
    const image = await layOut(file, context, out);
    const cwd = join(image, 'opt/svc-asr');
    expect(globSync(FOR_TESTS, { cwd })).toEqual([]);
    const options = { cwd, env: { METRICS_PORT: 'invalid' } };
    for (const [program, says] of Object.entries(programs))
      expect((await run(process.execPath, [program, '--help'], options)).output).toContain(says);
  },
  480_000,
);

test('every Containerfile is built here', () => {
  const files = execFileSync('git', ['ls-files', '*Containerfile*', '*Dockerfile*'], { cwd: ROOT });
  const found = files.toString().trim().split('\n');
  const containerfiles = found.filter((path) => !path.endsWith('.ts'));
  expect(containerfiles).toEqual(CONTAINERFILES.map(({ file }) => file));
});
