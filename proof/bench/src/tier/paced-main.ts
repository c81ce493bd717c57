import { connect, type Socket } from 'node:net';
import { ownCpuMs } from '@svc-asr/eval/statistics.ts';
import type { AsrSession, ServerEvent } from '@svc-asr/protocol';
import { framed } from '@svc-asr/testing/service/stream-client.ts';
import { WebSocket } from 'ws';

import { distinctUtterance, pcmOf } from '../engine/utterances.ts';
import { answerOrders } from '../measured-process.ts';
import { maskedFrame } from './masked-frames.ts';

/** Opens streams, or lets all open streams speak in real time, or closes them. */
export type PacedOrder =
  | { readonly do: 'open'; readonly url: string; readonly sessions: readonly AsrSession[] }
  | { readonly do: 'speak'; readonly seconds: number }
  | { readonly do: 'close' };

export interface PacedAnswer {
  readonly audioS: number;
  readonly lagsMs: readonly number[];
  /** Streams that ended before they were closed, since the process started. */
  readonly broken: number;
  /** CPU time of these clients themselves. */
  readonly cpuMs: number;
}

const FRAME_MS = 100;
const TICK_MS = 20;
/** Streams start within one chunk of each other. */
const STAGGER_MS = 1_120;

/** One utterance, a frame for each 100 ms. All streams send the same bytes: a scripted node does not listen. */
const FRAMES = [...framed(pcmOf(distinctUtterance(0, 4)))].map(maskedFrame);
const FLUSH = maskedFrame('{"type":"flush"}');

/** A client that costs as little as possible: its frames are masked once, for all streams. */
class PacedStream {
  readonly opened: Promise<void>;
  readonly #socket: WebSocket;
  #raw: Socket | null = null;
  #next = 0;
  #nextAtMs = 0;
  #sentAtMs: number[] = [];
  #utterance = 0;

  constructor(url: string, session: AsrSession) {
    this.#socket = new WebSocket(url, [...session.websocket_protocols], {
      perMessageDeflate: false,
      skipUTF8Validation: true,
      createConnection: () => {
        const { hostname, port } = new URL(url);
        this.#raw = connect({ host: hostname, port: Number(port), noDelay: true });
        return this.#raw;
      },
    });
    this.#socket.on('error', () => {});
    this.#socket.once('close', () => {
      if (open.delete(this)) broken += 1;
    });
    this.opened = new Promise((resolve) => {
      this.#socket.once('close', resolve);
      // The first message is `ready`.
      this.#socket.once('message', () => {
        resolve();
        this.#socket.on('message', (data) => {
          if (Buffer.isBuffer(data)) this.#receive(data.toString('utf8'));
        });
      });
    });
  }

  begin(atMs: number): void {
    this.#nextAtMs = atMs;
  }

  /** Returns the number of frames that were due. */
  speak(nowMs: number): number {
    let sent = 0;
    for (; this.#nextAtMs <= nowMs; this.#nextAtMs += FRAME_MS, sent += 1) {
      this.#raw?.write(FRAMES[this.#next] ?? FLUSH);
      this.#sentAtMs[this.#next] = nowMs;
      this.#next += 1;
      if (this.#next === FRAMES.length) this.#flush();
    }
    return sent;
  }

  close(): void {
    open.delete(this);
    this.#socket.close(1000);
  }

  #flush(): void {
    this.#raw?.write(FLUSH);
    this.#next = 0;
    this.#utterance += 1;
    this.#sentAtMs = [];
  }

  #receive(message: string): void {
    const event: ServerEvent = JSON.parse(message);
    if (event.type !== 'delta' || event.utterance !== this.#utterance) return;
    const sentAtMs = this.#sentAtMs[Math.ceil(event.audio_ms / FRAME_MS) - 1];
    if (sentAtMs !== undefined) lagsMs.push(performance.now() - sentAtMs);
  }
}

const open = new Set<PacedStream>();
let broken = 0;
let lagsMs: number[] = [];

async function openAll(url: string, sessions: readonly AsrSession[]): Promise<void> {
  const streams = sessions.map((session) => new PacedStream(url, session));
  for (const stream of streams) open.add(stream);
  await Promise.all(streams.map((stream) => stream.opened));
}

function speakAll(seconds: number): Promise<number> {
  const beganMs = performance.now();
  for (const stream of open) stream.begin(beganMs + Math.random() * STAGGER_MS);
  let frames = 0;
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      const nowMs = performance.now();
      for (const stream of open) frames += stream.speak(nowMs);
      if (nowMs < beganMs + seconds * 1000) return;
      clearInterval(timer);
      resolve((frames * FRAME_MS) / 1000);
    }, TICK_MS);
  });
}

async function answerOrder(order: PacedOrder): Promise<PacedAnswer> {
  const beforeMs = ownCpuMs();
  lagsMs = [];
  let audioS = 0;
  if (order.do === 'open') await openAll(order.url, order.sessions);
  else if (order.do === 'speak') audioS = await speakAll(order.seconds);
  else for (const stream of open) stream.close();
  return { audioS, lagsMs, broken, cpuMs: ownCpuMs() - beforeMs };
}

answerOrders(answerOrder);
