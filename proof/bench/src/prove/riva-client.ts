import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { RIVA_MODELS, ROLE_NAME, startRivaEngine } from '@svc-asr/engine';
import type { ModelId } from '@svc-asr/protocol';
import { EngineNodeProcess } from '@svc-asr/local/engine-node-process.ts';
import { PrivateCa } from '@svc-asr/testing/engine/private-ca.ts';
import { finals, read } from '@svc-asr/testing/speech/event-reader.ts';
import { SPEECH } from '@svc-asr/testing/speech/fixtures.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';

const ROOT = resolve(import.meta.dirname, '../../../..');
const PYTHON = join(ROOT, '.cache/riva/bin/python');
const SCRIPTS = join(ROOT, 'proof/bench/src/riva-client');
const CLIENT_WITHIN_MS = 120_000;
/** The texts that the server on NVIDIA's stubs returns. */
const SCRIPTED = { 'ki-KE': 'nĩ wega mũno mũrata', 'luo-KE': 'erokamano ahinya osiepna' };
const STREAMS = 8;

export const about =
  "NVIDIA's own client against our engine node, our gateway against NVIDIA's server stubs";

export async function run({ log }: CampaignOptions): Promise<CampaignResult> {
  if (!existsSync(PYTHON))
    throw new Error('The Riva client is missing: bash .ci/bootstrap nightly');
  const client = await runClient();
  log(`NVIDIA's client: ${client.utterances} utterances, ${client.different_texts} different`);
  const server = await runServer();
  log(
    `NVIDIA's stubs: ${server.server_utterances} utterances, ${server.server_different_texts} different`,
  );
  return {
    passed:
      client.utterances === SPEECH.length &&
      client.different_texts === 0 &&
      server.server_utterances === STREAMS &&
      server.server_different_texts === 0,
    figures: { ...client, ...server },
  };
}

interface Transcribed {
  readonly text: string;
  readonly words: readonly string[];
  readonly finals: number;
  readonly interims: number;
}

/** Transcribes every fixture sentence over mutual TLS with NVIDIA's unmodified client. */
async function runClient(): Promise<{ utterances: number; different_texts: number }> {
  const ca = await PrivateCa.create();
  const folder = await mkdtemp(join(tmpdir(), 'riva-client-'));
  const node = await EngineNodeProcess.start({ tls: await ca.issue(ROLE_NAME.engine) });
  try {
    // A file that is sent at once may be decoded before its first interim result is due.
    const files = SPEECH.map(({ name, model }, at) => ({
      path: join(folder, `${name}.pcm`),
      language: RIVA_MODELS[model].languageCode,
      live: at === 0,
    }));
    for (const [at, { pcm }] of SPEECH.entries()) await writeFile(files[at]?.path ?? '', pcm);
    const tls = await ca.issue(ROLE_NAME.gateway);
    const order = {
      address: node.address,
      server_name: ROLE_NAME.engine,
      ca: tls.caFile,
      cert: tls.certFile,
      key: tls.keyFile,
      files,
    };
    const { stdout } = await promisify(execFile)(
      PYTHON,
      [join(SCRIPTS, 'client.py'), JSON.stringify(order)],
      { timeout: CLIENT_WITHIN_MS },
    );
    const [, ...lines] = stdout.trim().split('\n');
    const answers = lines.map((line): Transcribed => JSON.parse(line));
    const isWrong = ({ text, words, finals: count }: Transcribed, at: number): boolean =>
      text !== SPEECH[at]?.expected || words.join(' ') !== text || count !== 1;
    if (!answers[0]?.interims) throw new Error('No interim result arrived for live speech.');
    return { utterances: answers.length, different_texts: answers.filter(isWrong).length };
  } finally {
    await node.stop();
    await ca.remove();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Creates the gateway's engine as configured for Riva and NIM. */
async function runServer(): Promise<{
  server_utterances: number;
  server_different_texts: number;
}> {
  const server = spawn(PYTHON, [join(SCRIPTS, 'server.py'), JSON.stringify(SCRIPTED)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line]: string[] = await once(createInterface({ input: server.stdout }), 'line');
    const { port }: { port: number } = JSON.parse(line ?? '');
    const engine = await startRivaEngine({
      addresses: `127.0.0.1:${port}`,
      tls: null,
      capacityPerServer: STREAMS,
      models: RIVA_MODELS,
    });
    const texts = await Promise.all(
      Array.from({ length: STREAMS }, (_, at) => {
        const model: ModelId = at % 2 === 0 ? 'svc-asr-kikuyu-v1' : 'svc-asr-dholuo-v1';
        return speak(engine, model);
      }),
    );
    await engine.close();
    const expected = [SCRIPTED['ki-KE'], SCRIPTED['luo-KE']];
    const different = texts.filter((said, at) => said !== expected[at % 2]);
    return { server_utterances: texts.length, server_different_texts: different.length };
  } finally {
    server.kill('SIGKILL');
  }
}

async function speak(
  engine: Awaited<ReturnType<typeof startRivaEngine>>,
  model: ModelId,
): Promise<string> {
  const stream = await engine.open({ model, signal: new AbortController().signal });
  const reading = read(stream);
  await stream.write(new Uint8Array(100_000));
  stream.flush();
  stream.flush();
  const said = finals(await reading.until('final', 2));
  await stream.close();
  return said.join('');
}
