import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROLE_NAME } from '@svc-asr/engine';
import { mapConcurrently } from '@svc-asr/eval/concurrency.ts';
import { EngineNodeProcess, tlsEnvironment } from '@svc-asr/local/engine-node-process.ts';
import { PrivateCa } from '@svc-asr/testing/engine/private-ca.ts';
import { audioFrame, rawFrame, textFrame } from '@svc-asr/testing/service/raw-frame.ts';
import type { StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { SPEECH } from '@svc-asr/testing/speech/fixtures.ts';
import type { CampaignOptions, CampaignResult } from '../../campaign.ts';
import { search } from '../../free-ride/search.ts';
import { numbers } from '../../service/concurrency.ts';
import { Fleet, usageOf, type Tenant } from '../../service/fleet.ts';
import { Call } from '../../service/call.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';

/** Tries to get a transcript and then end the session so that it counts as our failure, which is free. */
export const about =
  'bursts and random pauses that try to end a transcribed session as failed: every one is billed';

const FLUSH = textFrame('{"type":"flush"}');
const RESET = textFrame('{"type":"reset"}');
const CONFIG = textFrame('{"type":"config"}');
const LARGE = audioFrame(Buffer.alloc(36_000));

/** Each is written at once, so that thousands of frames arrive while the recogniser is busy. */
const ATTACKS: Readonly<Record<string, () => Buffer>> = {
  tinyFrames: () =>
    Buffer.concat(numbers(6).flatMap(() => [LARGE, repeat(audioFrame(Buffer.alloc(2)), 3_500)])),
  oddBytes: () => Buffer.concat([LARGE, repeat(audioFrame(Buffer.alloc(1)), 9_999)]),
  emptyFrames: () => Buffer.concat([LARGE, repeat(audioFrame(Buffer.alloc(0)), 10_000)]),
  flushes: () => Buffer.concat([LARGE, repeat(FLUSH, 400)]),
  flushesBetween: () => repeat(Buffer.concat([LARGE, FLUSH]), 5),
  resetsBetween: () => repeat(Buffer.concat([LARGE, FLUSH, LARGE, RESET]), 5),
  configs: () => Buffer.concat([LARGE, FLUSH, repeat(CONFIG, 18)]),
  fragments: () => repeat(rawFrame({ opcode: 2, payload: Buffer.alloc(2), fin: false }), 100),
  tooLarge: () => Buffer.concat([LARGE, audioFrame(Buffer.alloc(70_000))]),
  halfFrame: () => LARGE.subarray(0, 20_000),
  unmasked: () => rawFrame({ opcode: 2, payload: Buffer.alloc(20), mask: false }),
  pings: () => repeat(rawFrame({ opcode: 9, payload: Buffer.alloc(0) }), 100),
  close: () => Buffer.concat([LARGE, FLUSH, rawFrame({ opcode: 8, payload: Buffer.alloc(0) })]),
};
const NAMES = Object.keys(ATTACKS);
const GO_ON_MS = 500;

const TIERS = [1, 2] as const;
const SEED = 1;

export async function run({ short, args, log }: CampaignOptions): Promise<CampaignResult> {
  const attempts = short ? NAMES.length : 500;
  const seed = Number(args[0] ?? (short ? SEED : randomInt(2 ** 31)));
  const found = await Promise.all(
    TIERS.map((tiers) => attackTiers(tiers, { attempts, batches: short ? 2 : 40, seed, log })),
  );
  const total = (name: 'searched' | 'unbilled' | 'failed'): number =>
    found.reduce((sum, one) => sum + one[name], 0);
  const figures = {
    attempts: attempts * TIERS.length,
    unbilled: total('unbilled'),
    failed: total('failed'),
    tiers: TIERS.length,
    searched: total('searched'),
  };
  return { passed: figures.unbilled === 0 && figures.failed === 0, figures };
}

async function attackTiers(
  tiers: number,
  input: { attempts: number; batches: number; seed: number; log: (line: string) => void },
): Promise<{ searched: number; unbilled: number; failed: number }> {
  const fleet = await Fleet.start();
  try {
    const unbilled = await bursts(fleet, { tiers, ...input });
    const found = await search(fleet, { tiers, ...input });
    const failed = await fleet.countFailedSessions();
    return { searched: found.searched, unbilled: unbilled + found.unbilled, failed };
  } finally {
    await fleet.stop();
  }
}

/** Returns how many attempts were not billed. */
async function bursts(
  fleet: Fleet,
  input: { tiers: number; attempts: number; log: (line: string) => void },
): Promise<number> {
  const { service, stop } = await launch(fleet, input.tiers);
  const tenants = await fleet.addTenants(8, 2_000_000_000);
  let unbilled = 0;
  await mapConcurrently(numbers(input.attempts), tenants.length, async (_, at) => {
    const tenant = tenants[at % tenants.length];
    if (tenant === undefined) return;
    // Every attack alone first, then random sequences of them.
    const names = at < NAMES.length ? [NAMES[at] ?? ''] : numbers(1 + randomInt(3)).map(anyName);
    if (await isBilled({ service, tenant, names })) return;
    unbilled += 1;
    input.log(`${input.tiers} tiers, not billed after: ${names.join(', ')}`);
  });
  await stop();
  return unbilled;
}

/** A service with its own recogniser, or one with an engine node behind mutual TLS. */
async function launch(
  fleet: Fleet,
  tiers: number,
): Promise<{ service: ServiceProcess; stop: () => Promise<void> }> {
  if (tiers === 1) {
    const service = await fleet.launch();
    return { service, stop: () => service.stop() };
  }
  const ca = await PrivateCa.create();
  const node = await EngineNodeProcess.start({ tls: await ca.issue(ROLE_NAME.engine) });
  const service = await fleet.launch({
    ...tlsEnvironment(await ca.issue(ROLE_NAME.gateway)),
    ENGINE_ADDRESSES: node.address,
  });
  return {
    service,
    async stop() {
      await service.stop();
      await node.stop();
      await ca.remove();
    },
  };
}

async function isBilled(input: {
  service: ServiceProcess;
  tenant: Tenant;
  names: readonly string[];
}): Promise<boolean> {
  const { service, tenant, names } = input;
  // An account has one session at a time, so attempts of the same account wait for each other.
  const { client, session } = await Call.open(service, tenant, {
    model: 'svc-asr-kikuyu-v1',
    max_audio_seconds: 300,
  });
  const sentence = SPEECH[0];
  if (sentence === undefined) throw new Error('There is no speech.');
  client.send(sentence.pcm.subarray(0, 64_000));
  const { billable_ms: receiptMs, text } = await client.flush();
  if (text === '') throw new Error('Nothing was recognised.');
  await attack(client, names);
  const { recent_sessions: recent } = await usageOf(service.url, tenant);
  const ended = recent.find(({ id }) => id === session.id);
  return ended?.status === 'completed' && ended.billable_ms >= receiptMs;
}

async function attack(client: StreamClient, names: readonly string[]): Promise<void> {
  client.wire?.write(Buffer.concat(names.map((name) => ATTACKS[name]?.() ?? Buffer.alloc(0))));
  await Promise.race([client.closed, sleep(GO_ON_MS)]);
  if (randomInt(2) === 0) client.wire?.resetAndDestroy();
  else client.socket.terminate();
  await client.closed;
}

function anyName(): string {
  return NAMES[randomInt(NAMES.length)] ?? '';
}

function repeat(bytes: Buffer, count: number): Buffer {
  return Buffer.concat(numbers(count).map(() => bytes));
}
