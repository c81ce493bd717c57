import { setTimeout as sleep } from 'node:timers/promises';
import type { AsrSession } from '@svc-asr/protocol';
import { StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { Call } from './call.ts';
import { createSession, type Tenant } from './fleet.ts';

const MODEL = 'svc-asr-kikuyu-v1';
/** Ten seconds. A node that drains is out of the load balancer much sooner. */
const OPEN_ATTEMPTS_MAX = 50;

export interface CallTally {
  streams: number;
  cut: number;
  retries: number;
}

export interface CallInput {
  api: readonly string[];
  ca: Buffer;
  streamMs: number;
  tally: CallTally;
  signal: AbortSignal;
}

/** Keeps one caller per tenant streaming until `signal` aborts. */
export async function keepAllCalling(tenants: readonly Tenant[], input: CallInput): Promise<void> {
  await Promise.all(tenants.map((tenant) => keepCalling({ ...input, tenant })));
}

/** Makes one call after another. */
async function keepCalling(input: CallInput & { tenant: Tenant }): Promise<void> {
  const { tally, signal, streamMs } = input;
  const { pcm } = speech('kikuyu-2');
  while (!signal.aborted) {
    const session = await reserve(input);
    const call = new Call(session, await open(session, input));
    tally.streams += 1;
    const untilMs = performance.now() + streamMs * (0.5 + Math.random());
    await call.repeat(pcm, () => performance.now() < untilMs);
    if (!(await call.hangUp())) tally.cut += 1;
  }
}

/** Retries after 503, at whichever process answers. */
async function reserve(input: {
  tenant: Tenant;
  api: readonly string[];
  tally: CallTally;
}): Promise<AsrSession> {
  for (let attempt = 0; ; attempt += 1) {
    const url = input.api[attempt % input.api.length] ?? '';
    const body = { model: MODEL, max_audio_seconds: 60 } as const;
    const session = await createSession(url, input.tenant, body).catch(() => null);
    if (session !== null) return session;
    input.tally.retries += 1;
    await sleep(200);
  }
}

/** Retries with the same credential, because a draining node does not spend it. */
async function open(
  session: AsrSession,
  input: { ca: Buffer; tally: CallTally },
): Promise<StreamClient> {
  for (let attempt = 0; attempt < OPEN_ATTEMPTS_MAX; attempt += 1) {
    const client = await StreamClient.ready(session, { ca: input.ca }).catch(() => null);
    if (client !== null) return client;
    input.tally.retries += 1;
    await sleep(200);
  }
  throw new Error(`Session ${session.id} could not be opened.`);
}
