import type { AsrSession } from '@svc-asr/protocol';
import { WebSocket } from 'ws';
import type { Bare } from '../engine/bare.ts';
import { percentile } from '@svc-asr/eval/statistics.ts';
import { residentKib } from '../engine/processor.ts';
import { distinctUtterance } from '../engine/utterances.ts';
import type { Fleet } from './fleet.ts';
import type { Load } from './load.ts';
import type { LoadAnswer } from './load-main.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';
import { openSessions } from './sessions.ts';

export interface StreamBench {
  readonly bare: Bare;
  readonly load: Load;
  readonly fleet: Fleet;
  readonly service: ServiceProcess;
  readonly log: (line: string) => void;
  readonly short: boolean;
}

/** Allowed lag beyond the bare decode of a batch of that size. */
const LAG_ALLOWED_MS = 150;
const LIVE_SENTENCES = 10;
const LIVE_STEP = 10;
const LIVE_MAX = 310;
const LIVE_STEP_SHORT = 4;
const IDLE_CONNECTIONS = 2_000;

/** Returns the maximum number of live streams with a p95 lag within the bare decode plus 150 ms, and their figures. */
export async function measureLive(bench: StreamBench): Promise<Record<string, number>> {
  const allowedMs = LAG_ALLOWED_MS + (await bareDecodeP95Ms(bench.bare));
  const held = bench.short
    ? await speakLive(bench, { streams: LIVE_STEP_SHORT, allowedMs })
    : await mostLive(bench, allowedMs);
  if (held === null) return { live_streams: 0 };
  const { answer } = held;
  return {
    live_streams: held.streams,
    delta_lag_p50_ms: Math.round(percentile(answer.deltaLagMs, 0.5)),
    delta_lag_p95_ms: Math.round(percentile(answer.deltaLagMs, 0.95)),
    delta_lag_p99_ms: Math.round(percentile(answer.deltaLagMs, 0.99)),
    ...spread('ready', answer.readyMs),
    ...spread('first_delta', answer.firstDeltaMs),
    ...spread('final', answer.finalMs),
  };
}

interface Held {
  readonly streams: number;
  readonly answer: LoadAnswer;
}

/** Binary search over the number of streams. Each attempt takes half a minute. */
async function mostLive(bench: StreamBench, allowedMs: number): Promise<Held | null> {
  let best: Held | null = null;
  let tooMany = LIVE_MAX / LIVE_STEP + 1;
  for (let held = 0; tooMany - held > 1;) {
    const steps = (held + tooMany) >> 1;
    const tried = await speakLive(bench, { streams: steps * LIVE_STEP, allowedMs });
    if (tried === null) {
      tooMany = steps;
    } else {
      best = tried;
      held = steps;
    }
  }
  return best;
}

/** Returns null if a stream broke or the lag was too long. */
async function speakLive(
  bench: StreamBench,
  { streams, allowedMs }: { streams: number; allowedMs: number },
): Promise<Held | null> {
  const plans = Array.from({ length: streams }, (_, at) =>
    distinctUtterance(at, bench.short ? 2 : LIVE_SENTENCES),
  );
  const sessions = await openSessions(bench, plans);
  const order = { url: bench.service.streamUrl, protocol: 'ours' as const, sessions, plans };
  const answer = await bench.load.run({ ...order, speed: 1 });
  const lagMs = percentile(answer.deltaLagMs, 0.95);
  bench.log(
    `${streams} live streams: lag p95 ${lagMs.toFixed(0)} ms of ${allowedMs.toFixed(0)} allowed`,
  );
  return answer.broken > 0 || lagMs > allowedMs ? null : { streams, answer };
}

function spread(name: string, values: readonly number[]): Record<string, number> {
  return {
    [`${name}_p50_ms`]: Math.round(percentile(values, 0.5)),
    [`${name}_p95_ms`]: Math.round(percentile(values, 0.95)),
    [`${name}_p99_ms`]: Math.round(percentile(values, 0.99)),
  };
}

async function bareDecodeP95Ms(bare: Bare): Promise<number> {
  const plans = Array.from({ length: 4 }, (_, at) => distinctUtterance(at, 4));
  const { decodesMs } = await bare.run(plans.map((plan) => [plan]));
  return percentile(decodesMs, 0.95);
}

/** Returns the memory of server and engine per idle connection. */
export async function measureIdle(bench: StreamBench): Promise<number> {
  const connections = bench.short ? 100 : IDLE_CONNECTIONS;
  const { service } = bench;
  const resident = (): number => residentKib(service.pid, ...service.children());
  const before = resident();
  const sockets: WebSocket[] = [];
  // Credentials expire after a minute, so sessions are created and used in small groups.
  while (sockets.length < connections) {
    const plans = Array.from({ length: 50 }, () => distinctUtterance(0, 1));
    const sessions = await openSessions(bench, plans);
    const opening = sessions.map((session) => openReady(service.streamUrl, session));
    sockets.push(...(await Promise.all(opening)));
  }
  const kib = (resident() - before) / connections;
  bench.log(`${connections} idle connections: ${kib.toFixed(1)} KiB each, server and engine`);
  for (const socket of sockets) socket.terminate();
  return Number(kib.toFixed(1));
}

function openReady(url: string, session: AsrSession): Promise<WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, [...session.websocket_protocols], {
      perMessageDeflate: false,
    });
    socket.once('error', reject);
    socket.once('message', () => resolve(socket));
  });
}
