import { execFileSync } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { listen } from '@svc-asr/runtime/listen.ts';
import { hostileFiles, type HostileFile } from '@svc-asr/testing/speech/hostile-files.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Decoders } from '../src/audio/decoders.ts';
import {
  DECODER_MEMORY_MIB,
  isNetworkIsolated,
  startSandboxed,
} from '@svc-asr/runtime/audio-sandbox.ts';
import { DEFAULT_LIMITS } from '../src/config.ts';
import { CompatibleMetrics } from '../src/metrics.ts';
import { toRefusal, type Refusal } from '../src/refusal.ts';

/** Uploads of attackers, decoded by the real ffmpeg in its sandbox. */

const AUDIO_MS_MAX = 60_000;
const BYTES_PER_MS = 32;
/** Samples that only the secret file has. */
const SECRET = Buffer.alloc(200_000, 0x5a);

let folder: string;
let server: Server;
let requests = 0;
let files: HostileFile[];
const metrics = new CompatibleMetrics();
const decoders = new Decoders({
  ffmpeg: 'ffmpeg',
  limits: { ...DEFAULT_LIMITS, audioMs: AUDIO_MS_MAX, idleMs: 5_000 },
  metrics,
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hostile-'));
  const path = join(folder, 'secret.raw');
  await writeFile(path, SECRET, { mode: 0o644 });
  server = createServer((_, response) => {
    requests += 1;
    response.end();
  });
  const port = await listen(server);
  files = await hostileFiles({ url: `http://127.0.0.1:${port}`, path }, AUDIO_MS_MAX);
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

async function* chunks(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.byteLength; at += 65_536) yield bytes.subarray(at, at + 65_536);
}

interface Outcome {
  readonly pcmBytes: number;
  readonly hasSecret: boolean;
  readonly refusal: Refusal | null;
}

async function decode(bytes: Buffer): Promise<Outcome> {
  const pcm: Buffer[] = [];
  let refusal: Refusal | null = null;
  try {
    const { signal } = new AbortController();
    for await (const frame of decoders.decode(chunks(bytes), { account: 'a', signal }))
      pcm.push(frame);
  } catch (error) {
    refusal = toRefusal(error);
  }
  const all = Buffer.concat(pcm);
  const hasSecret = all.includes(SECRET.subarray(0, 64));
  return { pcmBytes: all.byteLength, hasSecret, refusal };
}

/** Temporary files that are open in this process. They have no name, so the system says "(deleted)". */
function openSpools(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      return target.includes('svc-audio-') ? [target] : [];
    } catch {
      return [];
    }
  });
}

function children(): string[] {
  return execFileSync('ps', ['-o', 'comm=', '--ppid', String(process.pid)], { encoding: 'utf8' })
    .split('\n')
    .filter((name) => name.includes('ffmpeg'));
}

test('a hundred hostile files end with audio or a refusal, and reach no other file and no address', async () => {
  expect(files.length).toBeGreaterThanOrEqual(100);
  const failures: string[] = [];
  for (const { name, bytes } of files) {
    const { refusal, pcmBytes, hasSecret } = await decode(bytes);
    if (refusal !== null && refusal.status >= 500) failures.push(`${name}: ${refusal.code}`);
    if (refusal === null && pcmBytes === 0) failures.push(`${name}: neither audio nor a refusal`);
    if (pcmBytes > AUDIO_MS_MAX * BYTES_PER_MS) failures.push(`${name}: too much audio`);
    if (hasSecret) failures.push(`${name}: read the secret file`);
  }
  expect(failures).toEqual([]);
  expect(requests).toBe(0);
  expect(openSpools()).toEqual([]);
  expect(children()).toEqual([]);
  const text = metrics.text();
  expect(text).toContain('svc_compatible_decoders 0');
  for (const outcome of ['decoded', 'unreadable', 'limit']) {
    expect(text).toContain(`svc_compatible_decodes_total{outcome="${outcome}"}`);
  }
});

test('audio that is too long is refused with 413', async () => {
  const bombs = files.filter(({ name }) => name.startsWith('too much silence'));
  expect(bombs.length).toBe(3);
  for (const { bytes } of bombs) {
    const { refusal } = await decode(bytes);
    expect(refusal).toMatchObject({ status: 413, code: 'audio_too_long' });
  }
});

test('a sample rate of 1 Hz, which is hours of audio in a few bytes, is refused', async () => {
  const file = files.find(({ name }) => name === 'wav with 1 Hz');
  const { refusal, pcmBytes } = await decode(file?.bytes ?? Buffer.alloc(0));
  expect(refusal).toMatchObject({ code: 'unsupported_sample_rate' });
  expect(pcmBytes).toBe(0);
});

test('playlists never reach ffmpeg', async () => {
  for (const name of ['HLS address', 'ffconcat', 'SDP', 'DASH', 'JSON']) {
    const file = files.find((each) => each.name === name);
    const { refusal } = await decode(file?.bytes ?? Buffer.alloc(0));
    expect(refusal).toMatchObject({ code: 'unsupported_audio_format' });
  }
});

test('the decoder runs without root, without the environment, and can neither write files nor use much memory', async () => {
  process.env['SVC_SECRET'] = 'visible';
  const script =
    'id -u; ulimit -f; ulimit -v; ulimit -d; ulimit -t; cat /proc/self/oom_score_adj; tail -n +3 /proc/net/dev | wc -l; env';
  const child = startSandboxed({ program: '/bin/sh', args: ['-c', script], fd: null });
  delete process.env['SVC_SECRET'];
  if (child.stdout === null) throw new Error('The process has no output.');
  const output = await text(child.stdout);
  const [user, fileBlocks, addressKib, memoryKib, cpuSeconds, oomScore, interfaces, ...rest] =
    output.trim().split('\n');
  expect(user).not.toBe('0');
  expect(fileBlocks).toBe('0');
  expect(Number(addressKib)).toBeLessThanOrEqual(512 * 1024);
  expect(Number(memoryKib)).toBe(DECODER_MEMORY_MIB * 1024);
  expect(oomScore).toBe('1000');
  // Its own network has nothing but a loopback.
  expect(interfaces === '1' || !isNetworkIsolated()).toBe(true);
  expect(Number(cpuSeconds)).toBeLessThanOrEqual(900);
  expect(rest.join()).not.toContain('SVC_SECRET');
});

test('a temporary file has no name while it is open', async () => {
  const file = await decoders.spool(chunks(Buffer.alloc(100_000)), { account: 'a' });
  expect(openSpools()).toEqual([expect.stringMatching(/ \(deleted\)$/)]);
  expect(readdirSync(tmpdir()).filter((name) => name.startsWith('svc-audio-'))).toEqual([]);
  await file.close();
  expect(openSpools()).toEqual([]);
});
