import type { AsrSession } from '@svc-asr/protocol';
import type { WebSocket } from 'ws';
import { pcmOf, type UtterancePlan } from '../engine/utterances.ts';
import { DIALECTS, type Dialect } from './dialect.ts';

/** Clients in a process of their own: their processor time is not the service's, and their lag is what users see. */
export interface LoadOrder {
  readonly url: string;
  readonly dialect: keyof typeof DIALECTS;
  /** One for each stream; null where the server knows no sessions. */
  readonly sessions: readonly (AsrSession | null)[];
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

/** Lag is looked at in steps of so many samples, a frame of 100 ms. */
const STEP_SAMPLES = 1_600;

class LoadStream {
  readonly pcm: Uint8Array;
  text = '';
  readyMs = 0;
  firstDeltaMs = 0;
  finalMs = 0;
  readonly lagsMs: number[] = [];
  readonly over: Promise<boolean>;
  readonly #dialect: Dialect;
  readonly #socket: WebSocket;
  readonly #frames: readonly Uint8Array[];
  readonly #frameEveryMs: number;
  readonly #openedAtMs = performance.now();
  /** When the n-th step of the audio had been sent. */
  readonly #sentAtMs: number[] = [];
  readonly #readied = Promise.withResolvers<void>();
  #next = 0;
  #nextAtMs = 0;
  #readyAtMs = 0;
  #flushedAtMs = 0;
  #deltas = 0;
  #isDone = false;

  constructor(order: LoadOrder, session: AsrSession | null, plan: UtterancePlan) {
    this.pcm = pcmOf(plan);
    this.#dialect = DIALECTS[order.dialect];
    this.#frames = framesOf(this.pcm, order.frameMs * 32).map((frame) =>
      this.#dialect.encode(frame),
    );
    this.#frameEveryMs = order.speed === 0 ? 0 : order.frameMs / order.speed;
    this.#socket = this.#dialect.connect(order.url, session);
    this.#socket.on('message', (data) => {
      if (Buffer.isBuffer(data)) this.#hear(data.toString('utf8'));
    });
    this.#socket.on('open', () => {
      if (session === null) this.#ready();
    });
    this.#socket.on('error', () => {});
    this.over = new Promise((resolve) => {
      this.#socket.once('close', () => {
        this.#readied.resolve();
        resolve(this.#isDone);
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
    // A stream that was ended has nothing more to say; it counts as broken.
    if (this.#socket.readyState !== this.#socket.OPEN) return false;
    while (this.#next < this.#frames.length && this.#nextAtMs <= nowMs) {
      if (this.#frameEveryMs === 0 && this.#socket.bufferedAmount > 64_000) return true;
      const frame = this.#frames[this.#next];
      if (frame !== undefined) this.#socket.send(frame);
      this.#sentAtMs.push(performance.now());
      this.#next += 1;
      this.#nextAtMs += this.#frameEveryMs;
    }
    if (this.#next < this.#frames.length) return true;
    this.#flushedAtMs = performance.now();
    this.#socket.send(this.#dialect.endOfSpeech);
    return false;
  }

  #ready(): void {
    this.#readyAtMs = performance.now();
    this.readyMs = this.#readyAtMs - this.#openedAtMs;
    this.#readied.resolve();
  }

  #hear(message: string): void {
    const nowMs = performance.now();
    const heard = this.#dialect.hear(message, this.#deltas);
    if (heard.kind === 'ready') this.#ready();
    if (heard.kind === 'delta') {
      this.#deltas += 1;
      if (this.firstDeltaMs === 0) this.firstDeltaMs = nowMs - this.#readyAtMs;
      const sentAtMs = this.#sentAtMs[Math.ceil(heard.samples / STEP_SAMPLES) - 1];
      if (sentAtMs !== undefined) this.lagsMs.push(nowMs - sentAtMs);
    }
    if (heard.kind !== 'final') return;
    this.text = heard.text;
    this.finalMs = nowMs - this.#flushedAtMs;
    this.#isDone = true;
    this.#socket.close(1000);
  }
}

function framesOf(pcm: Uint8Array, bytes: number): Uint8Array[] {
  const frames: Uint8Array[] = [];
  for (let at = 0; at < pcm.length; at += bytes) frames.push(pcm.subarray(at, at + bytes));
  return frames;
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
