import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { distance } from '@svc-asr/eval/scoring.ts';
import { round } from '@svc-asr/eval/statistics.ts';
import { listen } from '@svc-asr/runtime/listen.ts';
import { SvcClient } from '@svc-asr/sdk';
import { relay } from '@svc-asr/sdk/relay';
import { openStream, type GetSession } from '@svc-asr/sdk/stream';
import { SPEECH } from '@svc-asr/testing/speech/fixtures.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { Fleet } from '../service/fleet.ts';

/** Sends a phone's Opus audio through a relay, over a slow link and over loopback, and compares the transcripts. */
export const about =
  'speech over 64 kbit/s with 600 ms delay and 3 % loss: the transcript of loopback';

const exec = promisify(execFile);
const HERE = join(import.meta.dirname, '../thin-network');
const LINK = ['--rate', '64', '--delay', '600', '--loss', '3'];
const LINK_URL = 'http://10.77.0.2:8000';
const BITRATE = '24k';
const RATE_HZ = 16_000;
const PAUSE_SAMPLES = RATE_HZ * 0.6;
const MODEL = 'svc-asr-kikuyu-v1';

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const folder = await mkdtemp(join(tmpdir(), 'thin-network-'));
  const fleet = await Fleet.start();
  let server: Server | null = null;
  try {
    const service = await fleet.launch();
    const [tenant] = await fleet.addTenants(1, 3_600_000);
    if (tenant === undefined) throw new Error('There is no account.');
    const client = new SvcClient({ baseUrl: service.url, apiKey: tenant.apiKey });
    const getSession: GetSession = async ({ signal }) => {
      const session = await client.sessions.create(
        { model: MODEL, maxAudioSeconds: 300 },
        { signal },
      );
      return { ...session, websocket_url: service.streamUrl };
    };
    server = createRelay(getSession);
    const port = await listen(server);
    const seconds = short ? 8 : 300;
    const files = await writeSpeech(folder, seconds, short ? 1 : 20);
    const loopback = await upload({ url: `http://127.0.0.1:${port}/opus`, path: files.opus });
    const link = await startLink(port);
    try {
      const phone = { namespace: link.phone, url: `${LINK_URL}/opus`, path: files.opus, seconds };
      const thin = await upload(phone);
      const pcm = await upload({ ...phone, url: `${LINK_URL}/pcm`, path: files.pcm, seconds: 0 });
      const wanted = loopback.text.split(' ');
      const bytes = (await readFile(files.opus)).byteLength;
      const figures = {
        words: wanted.length,
        words_changed: distance(wanted, thin.text.split(' ')),
        kbit_per_s: Math.round((bytes * 8) / 1000 / seconds),
        late_ms: thin.ms - seconds * 1000,
        pcm_seconds_per_second: round(pcm.ms / 1000 / (short ? 1 : 20)),
      };
      log(`PCM needs ${figures.pcm_seconds_per_second} s of this link for a second of speech.`);
      const isSame = figures.words > 1 && figures.words_changed === 0;
      return { passed: isSame, figures };
    } finally {
      await link.stop();
    }
  } finally {
    server?.close();
    await fleet.stop();
    await rm(folder, { recursive: true });
  }
}

/** The customer's backend: receives a recording while it is made and returns its transcript. */
function createRelay(getSession: GetSession): Server {
  const server = createServer((request, response) => {
    void answer(getSession, request)
      .then((text) => response.end(text))
      .catch(() => response.writeHead(500).end());
  });
  // Uploads last as long as the speech.
  server.requestTimeout = 0;
  return server;
}

async function answer(getSession: GetSession, request: IncomingMessage): Promise<string> {
  if (request.url === '/pcm') {
    for await (const _ of request);
    return '';
  }
  const stream = openStream({ getSession });
  try {
    await relay(stream, request);
    return (await stream.finish()).text;
  } finally {
    await stream.close();
  }
}

interface Recording {
  readonly opus: string;
  readonly pcm: string;
}

/** Returns the fixtures joined with pauses as WebM/Opus, and the first seconds as PCM. */
async function writeSpeech(
  folder: string,
  seconds: number,
  pcmSeconds: number,
): Promise<Recording> {
  const sentences = SPEECH.filter(({ model }) => model === MODEL);
  const pieces: Uint8Array[] = [];
  for (let at = 0, samples = 0; samples < seconds * RATE_HZ; at += 1) {
    const piece = sentences[at % sentences.length]?.pcm ?? new Uint8Array(0);
    pieces.push(piece, new Uint8Array(PAUSE_SAMPLES * 2));
    samples += piece.byteLength / 2 + PAUSE_SAMPLES;
  }
  const speech = Buffer.concat(pieces).subarray(0, seconds * RATE_HZ * 2);
  const raw = join(folder, 'speech.raw');
  const pcm = join(folder, 'speech.pcm');
  const opus = join(folder, 'speech.webm');
  await writeFile(raw, speech);
  await writeFile(pcm, speech.subarray(0, pcmSeconds * RATE_HZ * 2));
  const input = ['-v', 'error', '-f', 's16le', '-ar', String(RATE_HZ), '-ac', '1', '-i', raw];
  await exec('ffmpeg', [...input, '-c:a', 'libopus', '-b:a', BITRATE, '-f', 'webm', opus]);
  return { opus, pcm };
}

interface Upload {
  /** Default: the network namespace of this process. */
  readonly namespace?: string;
  readonly url: string;
  readonly path: string;
  /** How long the recording takes. Default 0: as fast as the link allows. */
  readonly seconds?: number;
}

async function upload(input: Upload): Promise<{ text: string; ms: number }> {
  const { namespace, url, path, seconds = 0 } = input;
  const phone = [process.execPath, join(HERE, 'phone.ts'), url, path, String(seconds)];
  const [program = '', ...args] =
    namespace === undefined ? phone : ['ip', 'netns', 'exec', namespace, ...phone];
  const { stdout } = await exec(program, args);
  return JSON.parse(stdout);
}

async function startLink(port: number): Promise<{ phone: string; stop(): Promise<void> }> {
  const phone = `thin-phone-${process.pid}`;
  const names = [phone, `thin-server-${process.pid}`];
  const args = [join(HERE, 'link.py'), ...names, String(port), ...LINK];
  const link = spawn('python3', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(link, 'exit');
  const [line] = await Promise.race([
    once(createInterface({ input: link.stdout }), 'line'),
    ended.then(() => ['down']),
  ]);
  if (line !== 'up') throw new Error('The link needs root, ip and /dev/net/tun.');
  return {
    phone,
    async stop() {
      link.stdin.end();
      await ended;
    },
  };
}
