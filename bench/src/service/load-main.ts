import { CHUNK_SAMPLES, type AsrSession, type ServerEvent } from '@svc-asr/protocol';
import { WebSocket } from 'ws';
import { pcmOf, type UtterancePlan } from '../engine/utterances.ts';

/** Clients in a process of their own: their processor time is not the service's, and their lag is what users see. */
export interface LoadOrder {
  readonly url: string;
  readonly sessions: readonly AsrSession[];
  readonly plans: readonly UtterancePlan[];
  /** 0: as fast as it is taken. 1: real time. */
  readonly speed: number;
  readonly frameMs: number;
}

export interface LoadAnswer {
  readonly audioS: number;
  readonly texts: readonly string[];
  readonly readyMs: readonly number[];
  readonly firstDeltaMs: readonly number[];
  readonly deltaLagMs: readonly number[];
  readonly finalMs: readonly number[];
  readonly wallMs: number;
  readonly broken: number;
}

class LoadStream {
  readonly pcm: Uint8Array;
  text = '';
  readyMs = 0;
  firstDeltaMs = 0;
  finalMs = 0;
  readonly lagsMs: number[] = [];
  readonly over: Promise<boolean>;
  readonly #socket: WebSocket;
  readonly #frameBytes: number;
  readonly #frameEveryMs: number;
  readonly #openedAtMs = performance.now();
  readonly #chunkSentAtMs: number[] = [];
  readonly #readied = Promise.withResolvers<void>();
  #at = 0;
  #nextAtMs = 0;
  #readyAtMs = 0;
  #flushedAtMs = 0;

  constructor(order: LoadOrder, session: AsrSession, plan: UtterancePlan) {
    this.pcm = pcmOf(plan);
    this.#frameBytes = order.frameMs * 32;
    this.#frameEveryMs = order.speed === 0 ? 0 : order.frameMs / order.speed;
    this.#socket = new WebSocket(order.url, [...session.websocket_protocols], {
      perMessageDeflate: false,
      skipUTF8Validation: true,
    });
    this.#socket.on('message', (data) => {
      if (Buffer.isBuffer(data)) this.#hear(JSON.parse(data.toString('utf8')));
    });
    this.#socket.on('error', () => {});
    this.over = new Promise((resolve) => {
      this.#socket.once('close', (code) => {
        this.#readied.resolve();
        resolve(code === 1000);
      });
    });
  }

  get ready(): Promise<void> {
    return this.#readied.promise;
  }

  /** Nobody begins to speak at the same moment. */
  begin(): void {
    this.#nextAtMs = performance.now() + (this.#frameEveryMs > 0 ? Math.random() * 1_120 : 0);
  }

  /** Sends what is due; false when everything was sent. */
  speak(nowMs: number): boolean {
    while (this.#at < this.pcm.length && this.#nextAtMs <= nowMs) {
      if (this.#frameEveryMs === 0 && this.#socket.bufferedAmount > 64_000) return true;
      this.#sendFrame();
      this.#nextAtMs += this.#frameEveryMs;
    }
    if (this.#at < this.pcm.length) return true;
    this.#flushedAtMs = performance.now();
    this.#socket.send('{"type":"flush"}');
    return false;
  }

  #sendFrame(): void {
    const end = Math.min(this.#at + this.#frameBytes, this.pcm.length);
    const before = Math.floor(this.#at / 2 / CHUNK_SAMPLES);
    this.#socket.send(this.pcm.subarray(this.#at, end));
    this.#at = end;
    const chunks = Math.floor(end / 2 / CHUNK_SAMPLES);
    if (chunks > before) this.#chunkSentAtMs[chunks] = performance.now();
  }

  #hear(event: ServerEvent): void {
    const nowMs = performance.now();
    if (event.type === 'ready') {
      this.#readyAtMs = nowMs;
      this.readyMs = nowMs - this.#openedAtMs;
      this.#readied.resolve();
    } else if (event.type === 'delta') {
      if (this.firstDeltaMs === 0) this.firstDeltaMs = nowMs - this.#readyAtMs;
      const sentAtMs = this.#chunkSentAtMs[Math.round((event.audio_ms * 16) / CHUNK_SAMPLES)];
      if (sentAtMs !== undefined) this.lagsMs.push(nowMs - sentAtMs);
    } else if (event.type === 'final') {
      this.text = event.text;
      this.finalMs = nowMs - this.#flushedAtMs;
      this.#socket.close(1000);
    }
  }
}

const TICK_MS = 5;

async function carryOut(order: LoadOrder): Promise<LoadAnswer> {
  const streams = order.sessions.map((session, at) => {
    const plan = order.plans[at % order.plans.length];
    if (plan === undefined) throw new RangeError('No plan.');
    return new LoadStream(order, session, plan);
  });
  await Promise.all(streams.map((stream) => stream.ready));
  const beganMs = performance.now();
  for (const stream of streams) stream.begin();
  let speaking = streams;
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const nowMs = performance.now();
      speaking = speaking.filter((stream) => stream.speak(nowMs));
      if (speaking.length > 0) return;
      clearInterval(timer);
      resolve();
    }, TICK_MS);
  });
  const clean = await Promise.all(streams.map((stream) => stream.over));
  return {
    audioS: streams.reduce((sum, stream) => sum + stream.pcm.length / 32_000, 0),
    texts: streams.map((stream) => stream.text),
    readyMs: streams.map((stream) => stream.readyMs),
    firstDeltaMs: streams.map((stream) => stream.firstDeltaMs).filter((ms) => ms > 0),
    deltaLagMs: streams.flatMap((stream) => stream.lagsMs),
    finalMs: streams.map((stream) => stream.finalMs),
    wallMs: performance.now() - beganMs,
    broken: clean.filter((ok) => !ok).length,
  };
}

process.on('message', (order: LoadOrder) => {
  void carryOut(order).then((answer) => process.send?.(answer));
});
process.send?.('ready');
