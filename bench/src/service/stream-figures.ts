import type { AsrSession } from '@svc-asr/protocol';
import { WebSocket } from 'ws';
import type { Bare } from '../engine/bare.ts';
import { percentile } from '../engine/percentile.ts';
import { residentKib } from '../engine/processor.ts';
import { distinctUtterance } from '../engine/utterances.ts';
import type { Fleet } from './fleet.ts';
import type { Load } from './load.ts';
import type { LoadAnswer } from './load-main.ts';
import type { ServiceProcess } from './service-process.ts';
import { openSessions } from './sessions.ts';

export interface StreamBench {
  readonly bare: Bare;
  readonly load: Load;
  readonly fleet: Fleet;
  readonly service: ServiceProcess;
  readonly log: (line: string) => void;
  readonly short: boolean;
}

/** What a user may wait beyond the bare decode of a batch of that size. */
const LAG_ALLOWED_MS = 150;
const LIVE_SENTENCES = 10;
const IDLE_CONNECTIONS = 2_000;

/** The most real-time streams whose p95 lag stays within the bare decode and 150 ms; and their figures. */
export async function measureLive(bench: StreamBench): Promise<Record<string, number>> {
  const { bare, log, short } = bench;
  const allowedMs = LAG_ALLOWED_MS + (await bareDecodeP95Ms(bare));
  let held: { streams: number; answer: LoadAnswer } | null = null;
  for (const streams of short ? [4] : [20, 40, 60, 80, 100, 120, 140, 160, 180, 200]) {
    const plans = Array.from({ length: streams }, (_, at) =>
      distinctUtterance(at, short ? 2 : LIVE_SENTENCES),
    );
    const sessions = await openSessions(bench, plans);
    const order = { url: bench.service.streamUrl, dialect: 'ours' as const, sessions, plans };
    const answer = await bench.load.run({ ...order, speed: 1, frameMs: 100 });
    const lagMs = percentile(answer.deltaLagMs, 0.95);
    log(
      `${streams} live streams: lag p95 ${lagMs.toFixed(0)} ms of ${allowedMs.toFixed(0)} allowed`,
    );
    if (answer.broken > 0 || lagMs > allowedMs) break;
    held = { streams, answer };
  }
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

function spread(name: string, values: readonly number[]): Record<string, number> {
  return {
    [`${name}_p50_ms`]: Math.round(percentile(values, 0.5)),
    [`${name}_p95_ms`]: Math.round(percentile(values, 0.95)),
    [`${name}_p99_ms`]: Math.round(percentile(values, 0.99)),
  };
}

async function bareDecodeP95Ms(bare: Bare): Promise<number> {
  const plans = Array.from({ length: 4 }, (_, at) => distinctUtterance(at, 4));
  const { decodesMs } = await bare.recognise([plans]);
  return percentile(decodesMs, 0.95);
}

/** Memory of server and engine for each connection that is open and says nothing. */
export async function measureIdle(bench: StreamBench): Promise<number> {
  const connections = bench.short ? 100 : IDLE_CONNECTIONS;
  const { pid } = bench.service;
  const resident = (): number =>
    [pid, ...bench.service.children()].reduce((sum, each) => sum + residentKib(each), 0);
  const before = resident();
  const sockets: WebSocket[] = [];
  // A credential lasts a minute: sessions are made and used in small groups.
  while (sockets.length < connections) {
    const plans = Array.from({ length: 50 }, () => distinctUtterance(0, 1));
    const sessions = await openSessions(bench, plans);
    const url = bench.service.streamUrl;
    sockets.push(...(await Promise.all(sessions.map((session) => openReady(url, session)))));
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
