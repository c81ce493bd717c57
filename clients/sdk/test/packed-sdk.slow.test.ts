import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  installedNodes,
  projectWithPackage,
  type Project,
} from '@svc-asr/testing/installed-package.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEmulator, type Emulator } from '@svc-asr/emulator';

/** A program as a user would write it, for any supported Node. */
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
const ROOT = join(import.meta.dirname, '../../..');
const FIXTURE = join(ROOT, 'core/models/fixtures/kikuyu-1.wav');

let emulator: Emulator;
let project: Project;
beforeAll(async () => {
  [emulator, project] = await Promise.all([
    startEmulator({ texts: ['nĩ wega mũno'] }),
    projectWithPackage('@svc-asr/sdk', [join(ROOT, 'clients/sdk/node_modules')]),
  ]);
  await writeFile(join(project.folder, 'program.mjs'), PROGRAM);
});
afterAll(async () => {
  await Promise.all([emulator.stop(), project.remove()]);
});

test.each(installedNodes())(
  'the packed SDK transcribes across a failure on Node %s',
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
