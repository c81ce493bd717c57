import { execFile, execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEmulator, type Emulator } from '../src/emulator.ts';
import { projectWithSdk } from './packed-sdk.ts';

/** What a server of any supported Node would write. */
const PROGRAM = `
import { SvcClient } from '@svc-asr/sdk';
import { wavToPcm16k } from '@svc-asr/sdk/audio';
import { foldForSearch } from '@svc-asr/sdk/orthography';
import { readFile } from 'node:fs/promises';
import { openStream } from '@svc-asr/sdk/stream';

const client = new SvcClient();
const model = 'svc-asr-kikuyu-v1';
const stream = openStream({ getSession: () => client.sessions.create({ model }) });
const reasons = [];
stream.on('reconnecting', ({ close }) => reasons.push(close.reason));
await stream.write(wavToPcm16k(await readFile(process.argv[2])));
const { text, final } = await stream.finish();
const again = openStream({ session: await client.sessions.create({ model, maxAudioSeconds: 1 }) });
await again.flush();
await again.close();
const { available_ms } = await client.usage.get();
console.log(JSON.stringify({ text, folded: foldForSearch(text), billable: final.billable_ms, reasons, available_ms }));
`;
const FIXTURE = join(import.meta.dirname, '../../models/fixtures/kikuyu-1.wav');

let emulator: Emulator;
let project: Awaited<ReturnType<typeof projectWithSdk>>;
beforeAll(async () => {
  [emulator, project] = await Promise.all([
    startEmulator({ texts: ['nĩ wega mũno'] }),
    projectWithSdk(),
  ]);
  await writeFile(join(project.folder, 'program.mjs'), PROGRAM);
});
afterAll(async () => {
  await Promise.all([emulator.stop(), project.remove()]);
});

/** The one that runs this test, and the system's own where there is one that the package supports. */
function nodes(): [string, string][] {
  const paths = [process.execPath, '/usr/bin/node', '/usr/local/bin/node'].filter(existsSync);
  const versions = paths.map((path) =>
    execFileSync(path, ['-p', 'process.version'], { encoding: 'utf8' }).trim(),
  );
  const found = new Map(versions.map((version, at) => [version, paths[at] ?? '']));
  return [...found].filter(([version]) => Number.parseInt(version.slice(1), 10) >= 20);
}

test.each(nodes())(
  'Node %s: the installed package transcribes across a failure',
  async (_, node) => {
    emulator.faults.arm({ name: 'engine-crash', ms: 1_000, times: 1 });
    const { stdout } = await promisify(execFile)(node, ['program.mjs', FIXTURE], {
      cwd: project.folder,
      env: { SVC_BASE_URL: emulator.url, SVC_API_KEY: emulator.apiKey },
    });
    expect(JSON.parse(stdout)).toMatchObject({
      text: 'nĩ wega mũno',
      folded: 'ni wega muno',
      reasons: ['internal_error'],
    });
  },
);
