import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';
import { framed, type StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { SPEECH } from '@svc-asr/testing/speech/fixtures.ts';
import { usageOf, type Fleet, type Tenant } from '../service/fleet.ts';
import { Call } from '../service/call.ts';
import { batches, type Batch, type Ending, type Input, type Plan } from './plan.ts';
import { SKIP_MS, SKIPPED } from './skipping.ts';

const MAIN = fileURLToPath(new URL('./skipping-main.ts', import.meta.url));
const PLANS_AT_ONCE = 8;
/** A stream that gets no audio for this long ends by itself. */
const IDLE_MS = 60_000;
const POLL_MS = 20;
const SENTENCES = Buffer.concat(SPEECH.slice(0, 4).map(({ pcm }) => pcm));

export interface Found {
  readonly searched: number;
  readonly unbilled: number;
}

/** Runs random plans against a service with this number of tiers, and counts those that got a transcript for nothing. */
export async function search(
  fleet: Fleet,
  input: { tiers: number; batches: number; seed: number; log: (line: string) => void },
): Promise<Found> {
  const service = await fleet.launch({ TIERS: String(input.tiers) }, MAIN);
  const tenants = await fleet.addTenants(PLANS_AT_ONCE, 2_000_000_000);
  let unbilled = 0;
  const all = batches({ count: input.batches, size: PLANS_AT_ONCE, seed: input.seed });
  for (const batch of all) {
    const billed = await runBatch(service, tenants, batch);
    for (const [at, isBilled] of billed.entries()) {
      if (isBilled) continue;
      unbilled += 1;
      input.log(`${input.tiers} tiers, not billed: ${JSON.stringify(batch.plans[at])}`);
      input.log(`  pauses ${batch.pausesMs.join(', ')} ms, seed ${input.seed}`);
    }
  }
  await service.stop();
  return { searched: all.length * PLANS_AT_ONCE, unbilled };
}

async function runBatch(
  service: ServiceProcess,
  tenants: readonly Tenant[],
  { plans, pausesMs }: Batch,
): Promise<boolean[]> {
  const riders = await Promise.all(
    plans.map((plan, at) => Rider.start(service, { plan, tenant: tenants[at % tenants.length] })),
  );
  const rounds = Math.max(...plans.map((plan) => plan.rounds.length));
  for (let round = 0; round < rounds; round += 1) {
    await Promise.all(riders.map((rider) => rider.play(round)));
    await pass(service, pausesMs[round] ?? 0);
  }
  await Promise.all(riders.map((rider) => rider.end()));
  await pass(service, IDLE_MS);
  return Promise.all(riders.map((rider) => rider.isBilled()));
}

async function pass(service: ServiceProcess, ms: number): Promise<void> {
  for (let leftMs = ms; leftMs > 0; leftMs -= SKIP_MS) {
    const before = countSkips(service);
    service.kill('SIGUSR2');
    while (countSkips(service) === before) await sleep(POLL_MS);
  }
}

function countSkips({ lines }: ServiceProcess): number {
  return lines.filter((line) => line === SKIPPED).length;
}

/** One client with its plan. It begins with a sentence and its final, so every session is worth something. */
class Rider {
  readonly #service: ServiceProcess;
  readonly #plan: Plan;
  readonly #tenant: Tenant;
  readonly #client: StreamClient;
  readonly #sessionId: string;

  private constructor(
    service: ServiceProcess,
    input: { plan: Plan; tenant: Tenant; client: StreamClient; sessionId: string },
  ) {
    this.#service = service;
    this.#plan = input.plan;
    this.#tenant = input.tenant;
    this.#client = input.client;
    this.#sessionId = input.sessionId;
  }

  static async start(
    service: ServiceProcess,
    { plan, tenant }: { plan: Plan; tenant: Tenant | undefined },
  ): Promise<Rider> {
    if (tenant === undefined) throw new Error('There is no account.');
    const { client, session } = await Call.open(service, tenant, {
      model: 'svc-asr-kikuyu-v1',
      max_audio_seconds: 300,
    });
    client.send(SENTENCES.subarray(0, 64_000));
    const { text } = await client.flush();
    if (text === '') throw new Error('Nothing was recognised.');
    return new Rider(service, { plan, tenant, client, sessionId: session.id });
  }

  /** Sends one round, and waits until everything before its end is answered. */
  async play(round: number): Promise<void> {
    for (const input of this.#plan.rounds[round] ?? []) this.#send(input);
    const id = `round-${round}`;
    this.#say({ type: 'config', id });
    await this.#client
      .find(() => this.#client.ofType('config_ack').find((ack) => ack.id === id), id)
      // The plan may have ended the stream.
      .catch(() => {});
  }

  async end(): Promise<void> {
    const endings: Readonly<Record<Ending, () => void>> = {
      close: () => this.#client.socket.close(1000),
      terminate: () => this.#client.socket.terminate(),
      reset: () => this.#client.wire?.resetAndDestroy(),
      silence: () => {},
    };
    endings[this.#plan.ending]();
    if (this.#plan.ending !== 'silence') await this.#client.closed;
  }

  async isBilled(): Promise<boolean> {
    await this.#client.closed;
    const receiptMs = Math.max(
      ...this.#client.ofType('final').map(({ billable_ms: billableMs }) => billableMs),
    );
    const { recent_sessions: recent } = await usageOf(this.#service.url, this.#tenant);
    const ended = recent.find(({ id }) => id === this.#sessionId);
    return ended?.status === 'completed' && ended.billable_ms >= receiptMs;
  }

  #send(input: Input): void {
    switch (input.do) {
      case 'speech':
        return this.#stream(Buffer.alloc(input.ms * 32, SENTENCES), input.frameBytes);
      case 'silence':
        return this.#stream(Buffer.alloc(input.ms * 32), input.frameBytes);
      case 'tiny':
        return this.#stream(Buffer.alloc(input.frames * input.bytes), input.bytes);
      case 'endpointing': {
        const { silenceMs } = input;
        const endpointing = silenceMs === null ? false : { silence_ms: silenceMs };
        return this.#say({ type: 'config', endpointing });
      }
      case 'flush':
      case 'reset':
      case 'config':
      case 'unknown':
        return this.#say({ type: input.do });
    }
  }

  #stream(pcm: Buffer, frameBytes: number): void {
    if (frameBytes === 0) return this.#sendFrame(pcm);
    for (const frame of framed(pcm, frameBytes)) this.#sendFrame(frame);
  }

  #sendFrame(frame: Uint8Array): void {
    const { socket } = this.#client;
    if (socket.readyState === WebSocket.OPEN) socket.send(frame);
  }

  #say(message: object): void {
    const { socket } = this.#client;
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  }
}
