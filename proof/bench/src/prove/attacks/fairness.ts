import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { mapConcurrently } from '@svc-asr/eval/concurrency.ts';
import { LIMITS, type AsrSession } from '@svc-asr/protocol';
import { setConcurrency } from '@svc-asr/server/accounts/accounts.ts';
import { StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { SPEECH } from '@svc-asr/testing/speech/fixtures.ts';
import type { CampaignOptions, CampaignResult } from '../../campaign.ts';
import { requireEightBitModels } from '../../engine/eight-bit-models.ts';
import { percentile, round } from '@svc-asr/eval/statistics.ts';
import { numbers } from '../../service/concurrency.ts';
import { Call } from '../../service/call.ts';
import { createSession, Fleet, reserveSession, type Tenant } from '../../service/fleet.ts';
import { openStream } from '../../service/open-stream.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';

/** One account must not make another wait: neither by flushing often, with or without speech, nor by holding slots. */
export const about =
  'final p95 of honest accounts, alone and beside flush floods and slot hoarding: within 2x';

const MODEL = 'svc-asr-kikuyu-v1';
const SLOTS = 60;
const ATTACKERS = 40;
const FLUSH_EVERY_MS = 200;
/** A flush after a second of speech costs two decodes, twice what a live speaker needs. */
const TAIL_FLUSHERS = 14;
const FRAME_MS = 200;
const FRAMES_PER_FLUSH = 5;
/** Longer than a stream may be idle while its node is full. */
const IDLE_MS = 12_000;
/** Often enough that no stream goes without audio for as long as an idle one may. */
const TRICKLE_EVERY_MS = 5_000;
const ATTACK_WITHIN_MS = 30_000;
/** An honest account that gets no stream has waited this long at least. */
const REFUSED_MS = 60_000;
const GROWTH_MAX = 2;
/** Shorter waits are not noticeable, and a busy machine adds as much by itself. */
const FLOOR_MS = 50;
const ONE_SAMPLE = new Uint8Array(2);
const CONTROL_TRIES = 10;
/** With fewer, the p95 of the four accounts would be their slowest utterance. */
const UTTERANCES_SHORT = 6;
const WITHOUT_RULE = fileURLToPath(
  new URL('../../service/without-fair-share-main.ts', import.meta.url),
);

interface Scene {
  readonly fleet: Fleet;
  readonly service: ServiceProcess;
  readonly honest: readonly Tenant[];
  readonly utterances: number;
}

/** `fairness int8`: with the bundled weights in 8 bits, which are decoded in batches too. */
export async function run({ short, args, log }: CampaignOptions): Promise<CampaignResult> {
  const modelsDir = args.includes('int8') ? await requireEightBitModels() : null;
  const weights = modelsDir === null ? {} : { MODELS_DIR: modelsDir };
  const fleet = await Fleet.start();
  try {
    const service = await fleet.launch({ ENGINE_SLOTS_PER_CHILD: String(SLOTS), ...weights });
    const honest = await fleet.addTenants(4, 3_600_000);
    const scene: Scene = { fleet, service, honest, utterances: short ? UTTERANCES_SHORT : 20 };
    await speakAll(scene);
    const quiet = await speakAll(scene);
    const flooding = await flood(scene, ONE_SAMPLE);
    const flooded = await speakAll(scene);
    await flooding.stop();
    // The same streams without flushes show what their speech alone costs others.
    const [besideSpeech, besideFlushes] = [
      await speakBeside(scene, Infinity),
      await speakBeside(scene, FRAMES_PER_FLUSH),
    ];
    const hoarding = await hoard(scene);
    const hoarded = await speakAll(scene);
    const reclaimed = hoarding.ended();
    await hoarding.stop();
    const controlRefused = await refusedWithoutRule(fleet);
    const [quietP95, floodP95, hoardP95] = [quiet, flooded, hoarded].map(p95);
    const [speechP95, tailP95] = [p95(besideSpeech), p95(besideFlushes)];
    const figures = {
      quiet_p95_ms: quietP95 ?? 0,
      flush_flood_p95_ms: floodP95 ?? 0,
      speech_p95_ms: speechP95,
      tail_flush_p95_ms: tailP95,
      hoarding_p95_ms: hoardP95 ?? 0,
      growth: Math.max(
        growthOf(quietP95 ?? 0, Math.max(floodP95 ?? 0, hoardP95 ?? 0)),
        growthOf(Math.max(quietP95 ?? 0, speechP95), tailP95),
      ),
      reclaimed,
      control_refused: controlRefused,
    };
    log(`${quiet.length} utterances in each part`);
    // Control: without the rule the attack must do harm.
    const isHarmful = controlRefused === CONTROL_TRIES;
    return { passed: figures.growth <= GROWTH_MAX && isHarmful, figures };
  } finally {
    await fleet.stop();
    if (modelsDir !== null) await rm(modelsDir, { recursive: true });
  }
}

function growthOf(quietMs: number, besideMs: number): number {
  return round(Math.max(besideMs, FLOOR_MS) / Math.max(quietMs, FLOOR_MS), 2);
}

function p95(waitsMs: readonly number[]): number {
  return Math.round(percentile([...waitsMs], 0.95));
}

/** Streams the utterances of every honest account, each in its own session. Returns the waits. */
async function speakAll({ service, honest, utterances }: Scene): Promise<number[]> {
  const waitsMs: number[] = [];
  await mapConcurrently(honest, honest.length, async (tenant) => {
    for (const at of numbers(utterances)) {
      waitsMs.push(await speak(service, tenant, at).catch(() => REFUSED_MS));
    }
  });
  return waitsMs;
}

/** Streams one second in real time. Returns the waits for `ready` and for the final. */
async function speak(service: ServiceProcess, tenant: Tenant, at: number): Promise<number> {
  const session = await reserveSession(service.url, tenant, { model: MODEL });
  const openedAtMs = performance.now();
  const call = new Call(session, await openStream(service.streamUrl, session));
  const readyMs = performance.now() - openedAtMs;
  const sentence = SPEECH[at % 4]?.pcm ?? new Uint8Array();
  await call.speak(sentence.subarray(0, 32_000));
  const flushedAtMs = performance.now();
  await call.client.flush();
  const finalMs = performance.now() - flushedAtMs;
  await call.client.close();
  return readyMs + finalMs;
}

/** Repeats the hoarding on a service without the rule. Returns how many attempts of an honest account are refused. */
async function refusedWithoutRule(fleet: Fleet): Promise<number> {
  for (const before of fleet.processes) await before.stop();
  const service = await fleet.launch({ ENGINE_SLOTS_PER_CHILD: String(SLOTS) }, WITHOUT_RULE);
  const honest = await fleet.addTenants(CONTROL_TRIES, 60_000);
  const hoarding = await hoard({ fleet, service, honest, utterances: 0 });
  let refused = 0;
  for (const tenant of honest) {
    const session = await createSession(service.url, tenant, { model: MODEL });
    const client = session === null ? null : await tryOpen(service, session);
    if (client === null) refused += 1;
    else await client.close();
  }
  await hoarding.stop();
  return refused;
}

interface Attack {
  /** How many of its streams the server ended. */
  ended(): number;
  stop(): Promise<void>;
}

/** Opens many streams of one account that send almost no audio and flush as often as allowed. */
async function flood(scene: Scene, audio: Uint8Array): Promise<Attack> {
  const clients = await openMany(scene, ATTACKERS);
  const timer = setInterval(() => {
    for (const { socket } of clients) {
      if (socket.readyState !== socket.OPEN) continue;
      socket.send(audio);
      socket.send('{"type":"flush"}');
    }
  }, FLUSH_EVERY_MS);
  return attackOf(clients, timer);
}

async function speakBeside(scene: Scene, framesPerFlush: number): Promise<number[]> {
  const speaking = await speakAndFlush(scene, framesPerFlush);
  const waitsMs = await speakAll(scene);
  await speaking.stop();
  return waitsMs;
}

/** Speaks in real time on several streams of one account, and flushes each of them at this interval. */
async function speakAndFlush(scene: Scene, framesPerFlush: number): Promise<Attack> {
  const clients = await openMany(scene, TAIL_FLUSHERS, LIMITS.audioSecondsMax);
  const frame = Buffer.from(SPEECH[0]?.pcm.subarray(0, FRAME_MS * 32) ?? []);
  let frames = 0;
  const timer = setInterval(() => {
    frames += 1;
    for (const [at, { socket }] of clients.entries()) {
      if (socket.readyState !== socket.OPEN) continue;
      socket.send(frame);
      if ((frames + at) % framesPerFlush === 0) socket.send('{"type":"flush"}');
    }
  }, FRAME_MS);
  return attackOf(clients, timer);
}

/** Fills every slot with streams of one account that send one sample every five seconds. */
async function hoard(scene: Scene): Promise<Attack> {
  const clients = await openMany(scene, SLOTS);
  const trickle = (): void => {
    for (const { socket } of clients)
      if (socket.readyState === socket.OPEN) socket.send(ONE_SAMPLE);
  };
  trickle();
  const timer = setInterval(trickle, TRICKLE_EVERY_MS);
  await sleep(IDLE_MS);
  return attackOf(clients, timer);
}

function attackOf(clients: readonly StreamClient[], timer: NodeJS.Timeout): Attack {
  return {
    ended: () => clients.filter(({ socket }) => socket.readyState !== socket.OPEN).length,
    async stop() {
      clearInterval(timer);
      for (const client of clients) client.socket.terminate();
      await Promise.all(clients.map(({ closed }) => closed));
    },
  };
}

async function openMany(
  { fleet, service }: Scene,
  count: number,
  audioSeconds = 1,
): Promise<StreamClient[]> {
  const [tenant] = await fleet.addTenants(1, 100_000_000);
  if (tenant === undefined) throw new Error('There is no account.');
  await setConcurrency(fleet.pool, { id: tenant.accountId, limit: count });
  const clients: StreamClient[] = [];
  const body = { model: MODEL, max_audio_seconds: audioSeconds } as const;
  const deadlineMs = performance.now() + ATTACK_WITHIN_MS;
  while (clients.length < count && performance.now() < deadlineMs) {
    // Placement may still consider the node full for two seconds.
    const session = await createSession(service.url, tenant, body);
    const client = session === null ? null : await tryOpen(service, session);
    if (client === null) await sleep(100);
    else clients.push(client);
  }
  // The figures are meaningless unless the attack is running.
  if (clients.length < count) throw new Error(`The attack holds only ${clients.length} streams.`);
  return clients;
}

function tryOpen(service: ServiceProcess, session: AsrSession): Promise<StreamClient | null> {
  return StreamClient.ready(session, { url: service.streamUrl }).catch(() => null);
}
