import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { mapConcurrently } from '@svc-asr/eval/concurrency.ts';
import { rawFrame } from '@svc-asr/testing/service/raw-frame.ts';
import type { CampaignOptions, CampaignResult } from '../../campaign.ts';
import { residentKib } from '../../engine/processor.ts';
import { numbers } from '../../service/concurrency.ts';
import { Fleet, usageOf, type Tenant } from '../../service/fleet.ts';
import { INSPECTED, liveKib } from '../../service/live-memory.ts';
import { Call } from '../../service/call.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';

/** Sends millions of malformed frames. The process survives, its memory stays flat, and no session fails. */
const MODEL = 'svc-asr-kikuyu-v1';
const FRAMES_A_STREAM = 250;
const BURST_FRAMES = 2_000;
/** One in this many streams gets a burst. */
const BURST_EVERY = 20;
const MESSAGES = [
  '{"type":"config","language":"ki","context":[56,13],"id":"a"}',
  '{"type":"config","endpointing":{"silence_ms":300,"max_utterance_ms":5000},"id":7}',
  '{"type":"flush","id":"b"}',
  '{"type":"reset","id":"c"}',
];
/**
 * Limit for the growth of the heap after a garbage collection, which does not depend on when the collector runs. Over a
 * million frames this is 4 bytes per frame, or a kilobyte per stream.
 */
const LIVE_GROWTH_ALLOWED_KIB = 4 * 1024;
/** Limit for the resident memory, to find native leaks. It grows in steps, depending on the collector. */
const RESIDENT_GROWTH_ALLOWED_KIB = 40 * 1024;

interface Tally {
  frames: number;
  streams: number;
  finals: number;
  silent_closes: number;
}

interface Memory {
  readonly liveKib: number;
  readonly serverKib: number;
  readonly engineKib: number;
}

export const about =
  'mutated WebSocket frames: no crash, no failed session, memory flat; fails with leak=frame, leak=stream';

export async function run({ short, args, log }: CampaignOptions): Promise<CampaignResult> {
  const [frames, accounts] = short ? [10_000, 4] : [1_000_000, 8];
  const fleet = await Fleet.start();
  try {
    const service = await fleet.launch({ ...INSPECTED, ...seededLeak(args) });
    const tenants = await fleet.addTenants(accounts, 2_000_000_000);
    const tally: Tally = { frames: 0, streams: 0, finals: 0, silent_closes: 0 };
    const storm = async (): Promise<Memory> => {
      await abuseAll({ service, tenants, tally, frames });
      const memory = await memoryOf(service);
      log(`${tally.frames} frames: ${JSON.stringify(memory)}`);
      return memory;
    };
    // The first round warms up every code path and the heap. The second must add nothing.
    const warm = await storm();
    const end = await storm();
    const survivors = await stillServes(service, tenants);
    const failed = await fleet.countFailedSessions();
    const crashes = fleet.processes.filter((process) => !isAlive(process.pid)).length;
    const grown = {
      live_grown_kib: end.liveKib - warm.liveKib,
      grown_kib: end.serverKib - warm.serverKib,
      engine_grown_kib: end.engineKib - warm.engineKib,
    };
    const passed =
      crashes === 0 &&
      failed === 0 &&
      tally.silent_closes === 0 &&
      survivors === accounts &&
      grown.live_grown_kib <= LIVE_GROWTH_ALLOWED_KIB &&
      grown.grown_kib <= RESIDENT_GROWTH_ALLOWED_KIB &&
      grown.engine_grown_kib <= RESIDENT_GROWTH_ALLOWED_KIB;
    return {
      passed,
      figures: { ...tally, crashes, failed, live_kib: end.liveKib, ...grown, survivors },
    };
  } finally {
    await fleet.stop();
  }
}
/** Control: with this leak the campaign must fail. */
function seededLeak(args: readonly string[]): Readonly<Record<string, string>> {
  const leak = args.find((arg) => arg.startsWith('leak='))?.slice('leak='.length);
  if (leak === undefined) return {};
  const module = new URL('../../service/seeded-leak.ts', import.meta.url);
  return { SEEDED_LEAK: leak, NODE_OPTIONS: `${INSPECTED.NODE_OPTIONS} --import ${module.href}` };
}

async function memoryOf(service: ServiceProcess): Promise<Memory> {
  return {
    liveKib: await liveKib(service),
    serverKib: residentKib(service.pid),
    engineKib: residentKib(...service.children()),
  };
}

async function abuseAll(input: {
  service: ServiceProcess;
  tenants: readonly Tenant[];
  tally: Tally;
  frames: number;
}): Promise<void> {
  const { service, tenants, tally, frames } = input;
  const before = tally.frames;
  await mapConcurrently(tenants, tenants.length, async (tenant) => {
    while (tally.frames - before < frames) await abuse({ service, tenant, tally });
  });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Runs one mostly valid stream until a frame ends it. */
async function abuse(input: {
  service: ServiceProcess;
  tenant: Tenant;
  tally: Tally;
}): Promise<void> {
  const { service, tenant, tally } = input;
  const { client } = await Call.open(service, tenant, {
    model: MODEL,
    max_audio_seconds: 300,
  });
  const { wire } = client;
  if (wire === null) throw new Error('There is no connection.');
  // From here on the fuzzer writes raw bytes to the socket. The server's messages are still read.
  for (const at of numbers(FRAMES_A_STREAM)) {
    if (!wire.writable) break;
    await write(wire, at === FRAMES_A_STREAM - 1 ? broken() : almostValid());
    tally.frames += 1;
  }
  tally.streams += 1;
  if (tally.streams % BURST_EVERY === 0 && wire.writable) {
    await write(wire, burst());
    tally.frames += BURST_FRAMES;
  }
  const closed = await Promise.race([client.closed, sleep(2_000, null)]);
  // Every abnormal close must follow a fatal error.
  const isNormal = closed === null || closed.code === 1000;
  if (!isNormal && !client.ofType('error').some((error) => error.fatal)) tally.silent_closes += 1;
  tally.finals += client.ofType('final').length;
  client.socket.terminate();
  await client.closed;
}

async function write(wire: Socket, bytes: Buffer): Promise<void> {
  if (!wire.write(bytes))
    await Promise.race([once(wire, 'drain'), once(wire, 'close'), sleep(1_000)]);
}

/** Sends thousands of frames in one write, more than a recogniser accepts at once. */
function burst(): Buffer {
  const tiny = rawFrame({ opcode: 2, payload: randomBytes(randomInt(4)) });
  return Buffer.concat([
    rawFrame({ opcode: 2, payload: randomBytes(36_000) }),
    ...numbers(BURST_FRAMES - 1).map(() => tiny),
  ]);
}

/** Valid but unusual input by RFC 6455: tiny frames, fragments, interleaved pings, odd lengths, noise. */
function almostValid(): Buffer {
  const choice = randomInt(100);
  // Some of it is audio for the recogniser.
  if (choice < 1) return rawFrame({ opcode: 2, payload: randomBytes(40_000) });
  if (choice < 60) return rawFrame({ opcode: 2, payload: randomBytes(randomInt(200)) });
  if (choice < 80) return fragmented(randomBytes(randomInt(300)));
  if (choice < 96) return rawFrame({ opcode: 2, payload: randomBytes(randomInt(4)) });
  if (choice < 97) return rawFrame({ opcode: 9, payload: randomBytes(randomInt(126)) });
  if (choice < 98) return rawFrame({ opcode: 10, payload: randomBytes(randomInt(126)) });
  return rawFrame({ opcode: 1, payload: mutatedText() });
}

function broken(): Buffer {
  const valid = almostValid();
  switch (randomInt(9)) {
    case 0:
      return randomBytes(1 + randomInt(400));
    case 1:
      return rawFrame({ opcode: 3 + randomInt(5), payload: randomBytes(10) });
    case 2:
      return rawFrame({ opcode: 2, payload: randomBytes(70_000) });
    case 3:
      return rawFrame({ opcode: 1, payload: randomBytes(100) });
    case 4:
      return rawFrame({ opcode: 8, payload: randomBytes(1) });
    case 5:
      return Buffer.from([0x82, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
    case 6: {
      valid[randomInt(valid.length)] = randomInt(256);
      valid[0] = 0xf2;
      return valid;
    }
    case 7:
      return rawFrame({ opcode: 2, payload: randomBytes(randomInt(126)), lengthBits: 16 });
    default:
      return rawFrame({ opcode: 2, payload: randomBytes(20), mask: false });
  }
}

function fragmented(payload: Buffer): Buffer {
  const half = payload.byteLength >> 1;
  return Buffer.concat([
    rawFrame({ opcode: 2, payload: payload.subarray(0, half), fin: false }),
    rawFrame({ opcode: 0, payload: payload.subarray(half) }),
  ]);
}

function mutatedText(): Buffer {
  const text = Buffer.from(MESSAGES[randomInt(MESSAGES.length)] ?? '');
  for (const _ of numbers(randomInt(3))) text[randomInt(text.byteLength)] = 32 + randomInt(95);
  return text;
}

/** A failed session is free, so no input may cause one. */
async function stillServes(service: ServiceProcess, tenants: readonly Tenant[]): Promise<number> {
  let serving = 0;
  for (const tenant of tenants) {
    const body = { model: MODEL, max_audio_seconds: 1 } as const;
    const { client } = await Call.open(service, tenant, body);
    await client.close();
    const { reserved_ms } = await usageOf(service.url, tenant);
    if (reserved_ms === 0) serving += 1;
  }
  return serving;
}
