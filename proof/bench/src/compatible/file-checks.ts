import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { mapConcurrently } from '@svc-asr/eval/concurrency.ts';
import type { ModelId } from '@svc-asr/protocol';
import { SvcClient } from '@svc-asr/sdk';
import { openStream, type Transcript } from '@svc-asr/sdk/stream';
import { framed } from '@svc-asr/testing/service/stream-client.ts';
import { encode } from '@svc-asr/testing/speech/audio-files.ts';
import { MODELS_DIR, SPEECH } from '@svc-asr/testing/speech/fixtures.ts';
import { usageOf, type Tenant } from '../service/fleet.ts';
import type { CheckContext } from './client-checks.ts';

const exec = promisify(execFile);
const TEN_FORMATS = ['wav', 'mp3', 'm4a', 'ogg', 'opus', 'webm', 'flac', 'aac', 'wma', 'aiff'];
const SENTENCES = ['kikuyu-1', 'dholuo-1', 'kikuyu-3'];
const AT_ONCE = 3;
const CREDIT_MS = 3_600_000;
/** As the program asks for it. */
const ENDPOINTING = { silenceMs: 700 };
const OUTPUT_MAX = 64 * 1024 * 1024;

export interface FileFigures {
  readonly files: number;
  /** Files whose transcript differs from the SDK's for the same samples. */
  readonly files_different: number;
  /** Accounts whose charge is not the sum of the seconds in the answers. */
  readonly receipts_different: number;
}

/** Posts files of ten formats with curl, and compares text and charge with the SDK and the ledger. */
export async function checkFiles(
  context: CheckContext,
  input: { readonly short: boolean; readonly log: (line: string) => void },
): Promise<FileFigures> {
  const { service, folder } = context;
  const sentences = SENTENCES.slice(0, input.short ? 1 : SENTENCES.length);
  const files = sentences.flatMap((name) => TEN_FORMATS.map((ending) => ({ name, ending })));
  let different = 0;
  let receiptsDifferent = 0;
  await mapConcurrently(files, AT_ONCE, async ({ name, ending }) => {
    const sentence = SPEECH.find((each) => each.name === name);
    const model = sentence?.model ?? 'svc-asr-kikuyu-v1';
    const path = join(folder, `${name}-${randomUUID()}.${ending}`);
    await writeFile(path, await encode(ending, ['-i', join(MODELS_DIR, `fixtures/${name}.wav`)]));
    const [ours, direct] = await service.fleet.addTenants(2, CREDIT_MS);
    if (ours === undefined || direct === undefined) throw new Error('There are no accounts.');
    const answer = await postFile({ url: service.url, apiKey: ours.apiKey, model, path });
    const wanted = await transcribeDirectly({ context, tenant: direct, model, path });
    const { consumed_ms } = await usageOf(service.api.url, ours);
    if (answer.text !== wanted.text) {
      different += 1;
      input.log(`${name}.${ending}: "${answer.text}", but the SDK got "${wanted.text}"`);
    }
    if (answer.usage?.seconds !== consumed_ms / 1000) receiptsDifferent += 1;
  });
  return { files: files.length, files_different: different, receipts_different: receiptsDifferent };
}

export interface Answer {
  readonly text: string;
  readonly words: readonly { readonly word: string; readonly start: number }[];
  readonly usage?: { readonly seconds: number };
}

/** The way of the documentation: one curl command. */
export async function postFile(input: {
  readonly url: string;
  readonly apiKey: string;
  readonly model: ModelId;
  readonly path: string;
}): Promise<Answer> {
  const { stdout } = await exec(
    'curl',
    [
      '-sf',
      `${input.url}/v1/audio/transcriptions`,
      '-H',
      `Authorization: Bearer ${input.apiKey}`,
      '-F',
      `model=${input.model}`,
      '-F',
      'response_format=verbose_json',
      '-F',
      'timestamp_granularities[]=word',
      '-F',
      `file=@${input.path}`,
    ],
    { maxBuffer: OUTPUT_MAX },
  );
  return JSON.parse(stdout);
}

/** The same file through ffmpeg and the SDK, without `svc-compatible`. */
export async function transcribeDirectly(input: {
  readonly context: CheckContext;
  readonly tenant: Tenant;
  readonly model: ModelId;
  readonly path: string;
}): Promise<Transcript> {
  const { model, path, tenant } = input;
  const client = new SvcClient({ baseUrl: input.context.service.api.url, apiKey: tenant.apiKey });
  const decode = ['-nostdin', '-v', 'error', '-i', path, '-f', 's16le', '-ar', '16000', '-ac', '1'];
  const { stdout: pcm } = await exec('ffmpeg', [...decode, 'pipe:1'], {
    encoding: 'buffer',
    maxBuffer: 8 * OUTPUT_MAX,
  });
  const stream = openStream({
    getSession: ({ signal }) => client.sessions.create({ model, maxAudioSeconds: 300 }, { signal }),
    endpointing: ENDPOINTING,
  });
  for (const frame of framed(pcm)) await stream.write(frame);
  return stream.finish();
}
