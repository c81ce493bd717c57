import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';
import { SPEECH } from '@svc-asr/testing/speech/fixtures.ts';
import type { CampaignOptions, CampaignResult } from '../../campaign.ts';
import { percentile } from '@svc-asr/eval/statistics.ts';
import { MeasuredProcess } from '../../measured-process.ts';
import { Call } from '../../service/call.ts';
import { DEFAULT_LIMITS, Fleet, usageOf, type Tenant } from '../../service/fleet.ts';
import type { FloodAnswer, FloodOrder } from '../../service/flood-main.ts';

/** Frames that cost their sender next to nothing must cost neither the node its lease nor others their time. */
export const about =
  'floods of every cheap frame: no lease is lost, receipts stay true, others wait within 2x';

const MODEL = 'svc-asr-kikuyu-v1';
const KINDS = ['empty', 'two_bytes', 'ping', 'pong', 'text', 'fragments'] as const;
const HONEST = 4;
const ATTACKERS = 16;
const UTTERANCE_BYTES = 12_800;
const RATIO_MAX = 2;
/** Shorter waits are not noticeable, and a busy machine adds as much by itself. */
const FLOOR_MS = 50;
/** Before each flood, so that a slow minute of the machine counts on both sides. */
const QUIET_MS = 2_000;
const WATCH_EVERY_MS = 250;
/** A stream that got no final has waited this long at least. */
const LOST_MS = 60_000;

interface Scene {
  readonly fleet: Fleet;
  readonly service: ServiceProcess;
  readonly honest: readonly Tenant[];
  readonly attackers: readonly Tenant[];
}

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const fleet = await Fleet.start();
  const flooder = await MeasuredProcess.start<FloodOrder, FloodAnswer>(
    new URL('../../service/flood-main.ts', import.meta.url),
  );
  try {
    const service = await fleet.launch(DEFAULT_LIMITS);
    const honest = await fleet.addTenants(HONEST, 3_600_000);
    const attackers = await fleet.addTenants(ATTACKERS, 3_600_000);
    const scene: Scene = { fleet, service, honest, attackers };
    const lease = watchLease(fleet);
    const callers = await Promise.all(honest.map((tenant) => Caller.start(service, tenant)));
    // The first utterances warm the recogniser up.
    await sleep(3_000);
    takeWaits(callers);
    let connections = 0;
    const quiet: number[] = [];
    const flooded: number[] = [];
    for (const count of short ? [ATTACKERS] : [1, 4, ATTACKERS]) {
      for (const kind of KINDS) {
        await sleep(QUIET_MS);
        quiet.push(...takeWaits(callers));
        const opened = await flood(scene, flooder, { kind, count, ms: short ? 5_000 : 9_000 });
        flooded.push(...takeWaits(callers));
        log(`${kind} from ${count}: ${opened} connections`);
        connections += opened;
      }
    }
    const different = await countDifferent(scene, callers);
    const figures = {
      connections,
      leases_lost: await lease.stop(),
      receipts_different: different,
      honest_p95_ratio: ratioOf(quiet, flooded, 0.95),
      honest_p99_ratio: ratioOf(quiet, flooded, 0.99),
      quiet_p99_ms: Math.round(percentile(quiet, 0.99)),
      flooded_p99_ms: Math.round(percentile(flooded, 0.99)),
      sessions_failed: await fleet.countFailedSessions(),
    };
    log(`${quiet.length} finals without floods, ${flooded.length} with them`);
    // The short form has a hundred finals: their p99 is the slowest but one, whatever made it slow.
    const ratio = short ? figures.honest_p95_ratio : figures.honest_p99_ratio;
    return { passed: isUnharmed(figures) && ratio <= RATIO_MAX, figures };
  } finally {
    await fleet.stop();
    await flooder.stop();
  }
}

function isUnharmed(figures: {
  readonly connections: number;
  readonly leases_lost: number;
  readonly receipts_different: number;
  readonly sessions_failed: number;
}): boolean {
  return (
    figures.connections >= KINDS.length &&
    figures.leases_lost === 0 &&
    figures.receipts_different === 0 &&
    figures.sessions_failed === 0
  );
}

function ratioOf(quiet: readonly number[], flooded: readonly number[], share: number): number {
  const [quietMs, floodedMs] = [percentile(quiet, share), percentile(flooded, share)];
  return Math.round((Math.max(floodedMs, FLOOR_MS) / Math.max(quietMs, FLOOR_MS)) * 100) / 100;
}

async function flood(
  { service, attackers }: Scene,
  flooder: MeasuredProcess<FloodOrder, FloodAnswer>,
  input: { kind: FloodOrder['kind']; count: number; ms: number },
): Promise<number> {
  const { connections } = await flooder.run({
    kind: input.kind,
    url: service.url,
    streamUrl: service.streamUrl,
    attackers: attackers.slice(0, input.count),
    ms: input.ms,
  });
  return connections;
}

/** Counts how often the lease of the node is seen to have expired. */
function watchLease(fleet: Fleet): { stop(): Promise<number> } {
  let lost = 0;
  let wasHeld = true;
  const stopping = new AbortController();
  const watching = (async () => {
    while (!stopping.signal.aborted) {
      const { rows } = await fleet.pool.query<{ held: boolean }>(
        'select bool_and(lease_until > clock_timestamp()) as held from nodes',
      );
      const held = rows[0]?.held === true;
      if (wasHeld && !held) lost += 1;
      wasHeld = held;
      await sleep(WATCH_EVERY_MS);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await watching;
      return lost;
    },
  };
}

function takeWaits(callers: readonly Caller[]): number[] {
  return callers.flatMap((caller) => caller.takeWaits());
}

/** Ends every honest stream. Returns how many did not cost what their last final said. */
async function countDifferent(scene: Scene, callers: readonly Caller[]): Promise<number> {
  let different = 0;
  for (const caller of callers) {
    for (const receipt of await caller.stop()) {
      const { recent_sessions: recent } = await usageOf(scene.service.url, caller.tenant);
      const billed = recent.find(({ id }) => id === receipt.sessionId)?.billable_ms;
      if (billed !== receipt.billableMs) different += 1;
    }
  }
  return different;
}

interface Receipt {
  readonly sessionId: string;
  billableMs: number;
}

/** An honest client: short utterances in real time, one after another, each with a flush. */
class Caller {
  readonly tenant: Tenant;
  readonly #service: ServiceProcess;
  readonly #receipts: Receipt[] = [];
  readonly #speaking: Promise<void>;
  #waitsMs: number[] = [];
  #isStopping = false;

  private constructor(service: ServiceProcess, tenant: Tenant, call: Call) {
    this.#service = service;
    this.tenant = tenant;
    this.#speaking = this.#speak(call);
  }

  static async start(service: ServiceProcess, tenant: Tenant): Promise<Caller> {
    return new Caller(service, tenant, await open(service, tenant));
  }

  takeWaits(): number[] {
    const waits = this.#waitsMs;
    this.#waitsMs = [];
    return waits;
  }

  async stop(): Promise<readonly Receipt[]> {
    this.#isStopping = true;
    await this.#speaking;
    return this.#receipts;
  }

  async #speak(first: Call): Promise<void> {
    let call = first;
    let receipt = this.#newReceipt(call);
    while (!this.#isStopping) {
      try {
        receipt.billableMs = await this.#utter(call);
      } catch {
        this.#waitsMs.push(LOST_MS);
        call = await open(this.#service, this.tenant);
        receipt = this.#newReceipt(call);
      }
    }
    await call.client.close();
  }

  /** Returns the charge so far. */
  async #utter(call: Call): Promise<number> {
    const { pcm } = SPEECH[this.#waitsMs.length % 4] ?? { pcm: new Uint8Array() };
    await call.speak(pcm.subarray(0, UTTERANCE_BYTES));
    const flushedAtMs = performance.now();
    const { billable_ms: billableMs } = await call.client.flush();
    this.#waitsMs.push(performance.now() - flushedAtMs);
    return billableMs;
  }

  #newReceipt({ session }: Call): Receipt {
    const receipt = { sessionId: session.id, billableMs: 0 };
    this.#receipts.push(receipt);
    return receipt;
  }
}

function open(service: ServiceProcess, tenant: Tenant): Promise<Call> {
  return Call.open(service, tenant, { model: MODEL, max_audio_seconds: 300 });
}
