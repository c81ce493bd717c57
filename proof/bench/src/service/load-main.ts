import type { AsrSession } from '@svc-asr/protocol';
import type { WebSocket } from 'ws';
import { framed } from '@svc-asr/testing/service/stream-client.ts';
import { pcmOf, type UtterancePlan } from '../engine/utterances.ts';
import { answerOrders } from '../measured-process.ts';
import { WIRE_PROTOCOLS, type WireProtocol } from './wire-protocol.ts';

/** Runs clients in their own process, so that their CPU time is not counted as the service's. */
export interface LoadOrder {
  readonly url: string;
  readonly protocol: keyof typeof WIRE_PROTOCOLS;
  /** One per stream; null for servers without sessions. */
  readonly sessions: readonly (AsrSession | null)[];
  readonly plans: readonly UtterancePlan[];
  /** 0: as fast as possible. 1: real time. */
  readonly speed: number;
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

const FRAME_MS = 100;
/** Lag is measured in steps of one frame. */
const STEP_SAMPLES = FRAME_MS * 16;

class LoadStream {
  readonly pcm: Uint8Array;
  text = '';
  readyMs = 0;
  firstDeltaMs = 0;
  finalMs = 0;
  readonly lagsMs: number[] = [];
  readonly over: Promise<boolean>;
  readonly #protocol: WireProtocol;
  readonly #socket: WebSocket;
  readonly #frames: readonly Uint8Array[];
  readonly #frameEveryMs: number;
  readonly #openedAtMs = performance.now();
  /** Time when the n-th step of the audio was sent. */
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
    this.#protocol = WIRE_PROTOCOLS[order.protocol];
    this.#frames = [...framed(this.pcm)].map((frame) => this.#protocol.encode(frame));
    this.#frameEveryMs = order.speed === 0 ? 0 : FRAME_MS / order.speed;
    this.#socket = this.#protocol.connect(order.url, session);
    this.#socket.on('message', (data) => {
      if (Buffer.isBuffer(data)) this.#onMessage(data.toString('utf8'));
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

  /** Staggers the starts. */
  begin(): void {
    this.#nextAtMs = performance.now() + (this.#frameEveryMs > 0 ? Math.random() * 1_120 : 0);
  }

  /** Sends the audio that is due. Returns false after the last frame. */
  sendDue(nowMs: number): boolean {
    // A stream that ended early counts as broken.
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
    this.#socket.send(this.#protocol.endOfSpeech);
    return false;
  }

  #ready(): void {
    this.#readyAtMs = performance.now();
    this.readyMs = this.#readyAtMs - this.#openedAtMs;
    const { configure } = this.#protocol;
    if (configure !== undefined) this.#socket.send(configure);
    this.#readied.resolve();
  }

  #onMessage(message: string): void {
    const nowMs = performance.now();
    const parsed = this.#protocol.parse(message, this.#deltas);
    if (parsed.kind === 'ready') this.#ready();
    if (parsed.kind === 'delta') {
      this.#deltas += 1;
      if (this.firstDeltaMs === 0) this.firstDeltaMs = nowMs - this.#readyAtMs;
      const sentAtMs = this.#sentAtMs[Math.ceil(parsed.samples / STEP_SAMPLES) - 1];
      if (sentAtMs !== undefined) this.lagsMs.push(nowMs - sentAtMs);
    }
    if (parsed.kind !== 'final') return;
    this.text = parsed.text;
    this.finalMs = nowMs - this.#flushedAtMs;
    this.#isDone = true;
    this.#socket.close(1000);
  }
}

const TICK_MS = 5;

async function runLoad(order: LoadOrder): Promise<LoadAnswer> {
  const streams = order.sessions.map((session, at) => {
    const plan = order.plans[at % order.plans.length];
    if (plan === undefined) throw new RangeError('No plan.');
    return new LoadStream(order, session, plan);
  });
  await Promise.all(streams.map((stream) => stream.ready));
  const beganMs = performance.now();
  for (const stream of streams) stream.begin();
  let sending = streams;
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const nowMs = performance.now();
      sending = sending.filter((stream) => stream.sendDue(nowMs));
      if (sending.length > 0) return;
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

answerOrders(runLoad);
