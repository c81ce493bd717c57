import type { Socket } from 'node:net';
import type { Engine, EngineStream } from '@svc-asr/engine';
import { EngineBusy, TAKEN } from '@svc-asr/engine';
import { LIMITS, type ServerEvent, type StreamErrorCode } from '@svc-asr/protocol';
import type { Clock } from '../clock.ts';
import { encodeEvent, isText, parseTextMessage } from './frames.ts';
import { audioMs, billableMs } from './metering.ts';
import { onControl, onMessage } from './stream-messages.ts';
import type { StreamMetrics } from './stream-metrics.ts';
import { violation, type StreamSocket } from './stream-socket.ts';
import {
  fail,
  startStream,
  type Action,
  type Ending,
  type StreamLimits,
  type StreamSession,
  type StreamState,
  type Step,
} from './stream-state.ts';
import {
  onAudio,
  onClientGone,
  onDrain,
  onDrainDeadline,
  onEngineEvent,
  onReady,
  onTick,
  onWaiting,
} from './stream.ts';

export interface ConnectionLimits extends StreamLimits {
  readonly pingIntervalMs: number;
  readonly connectionLostMs: number;
  /** How much may wait for a client to read it, and how long none of it may be read. */
  readonly unreadBytes: number;
  readonly unreadMs: number;
}

export interface ConnectionInput {
  readonly socket: StreamSocket;
  /** The connection underneath: it counts bytes, which are the sign of life. */
  readonly wire: Socket;
  readonly session: StreamSession;
  readonly accountId: string;
  readonly engine: Engine;
  readonly clock: Clock;
  readonly limits: ConnectionLimits;
  readonly metrics: StreamMetrics;
  /** Resolves once the ledger has it. */
  readonly settle: (outcome: { status: Ending['status']; samples: number }) => Promise<void>;
  readonly onEnd: (connection: Connection, ending: Ending) => void;
}

/** A client waits this long for its close frame at most; the settlement goes on without it. */
export const SETTLE_BEFORE_CLOSE_MS = 1_000;

/** Joins one socket, the rules and one engine stream. What is decided here is only when to read and when to stop. */
export class Connection {
  readonly #input: ConnectionInput;
  readonly #opening = new AbortController();
  #state: StreamState;
  #engineStream: EngineStream | null = null;
  #isOpeningEngine = false;
  #pendingWrites = 0;
  #pingedAtMs: number;
  #wireBytes = 0;
  #wireAtMs: number;
  #unreadBytes = 0;
  #readAtMs: number;
  #readyAtMs = 0;
  #flushedAtMs: number[] = [];
  #hasDelta = false;
  #isOver = false;

  constructor(input: ConnectionInput) {
    const nowMs = input.clock.monotonicMs();
    this.#input = input;
    this.#pingedAtMs = nowMs;
    this.#wireAtMs = nowMs;
    this.#readAtMs = nowMs;
    this.#state = startStream({ session: input.session, nowMs, limits: input.limits });
  }

  get accountId(): string {
    return this.#input.accountId;
  }

  /** For the log: figures and ids, nothing that was said. */
  summary(): Readonly<Record<string, string | number>> {
    const { session, accountId } = this.#input;
    const { sessionId, requestId, model } = session;
    const lastedMs = Math.round(this.#now() - this.#state.openedAtMs);
    const samples = this.#state.meter.acceptedSamples;
    return { sessionId, requestId, accountId, model, lastedMs, audioMs: audioMs(samples) };
  }

  start(): void {
    const { socket, engine } = this.#input;
    socket.on('message', (data, isBinary) => this.#onFrame(data, isBinary));
    for (const control of ['ping', 'pong'] as const) {
      socket.on(control, () => this.#take(onControl(this.#state, this.#now())));
    }
    socket.on('error', (error) => this.#onSocketError(error));
    socket.on('peer-close', () => this.#take(onClientGone(this.#state)));
    socket.on('close', () => this.#take(onClientGone(this.#state)));
    if (!engine.health().ready) this.#take(onWaiting(this.#state, 'loading'));
    this.#openEngine();
  }

  /** Called a few times a second for every connection: no connection has a timer of its own. */
  tick(nowMs: number): void {
    if (this.#isOver) return;
    const reading = this.#pendingWrites === 0;
    this.#take(onTick(this.#state, { nowMs, reading }));
    if (this.#isOver) return;
    if (this.#engineStream === null && !this.#isOpeningEngine) this.#openEngine();
    this.#watchReader(nowMs);
    this.#watchWire(nowMs, reading);
  }

  drain(deadlineMs: number): void {
    this.#take(onDrain(this.#state, deadlineMs));
  }

  drainDeadline(): void {
    this.#take(onDrainDeadline(this.#state, this.#now()));
  }

  /** Ends it for a reason that lies outside the stream. */
  end(code: StreamErrorCode): void {
    this.#take(fail(this.#state, code));
  }

  #onFrame(data: unknown, isBinary: boolean): void {
    if (!Buffer.isBuffer(data)) throw new TypeError('The socket is set to give buffers.');
    const nowMs = this.#now();
    if (isBinary) {
      if (data.byteLength > LIMITS.frameBytes) this.end('message_too_large');
      else this.#take(onAudio(this.#state, { frame: data, nowMs }));
      return;
    }
    if (data.byteLength > LIMITS.textMessageBytes) return this.end('message_too_large');
    if (!isText(data)) return this.end('invalid_utf8');
    this.#take(onControl(this.#state, nowMs));
    if (this.#isOver) return;
    this.#take(onMessage(this.#state, { message: parseTextMessage(data), nowMs }));
  }

  #onSocketError(error: Error): void {
    const code = violation(error);
    this.#take(code === null ? onClientGone(this.#state) : fail(this.#state, code));
  }

  #take(step: Step): void {
    this.#state = step[0];
    for (const action of step[1]) this.#act(action);
  }

  #act(action: Action): void {
    switch (action.do) {
      case 'recognize':
        return this.#write(action.pcm);
      case 'send':
        return this.#send(action.event);
      case 'flush':
        this.#flushedAtMs.push(this.#now());
        return this.#engineStream?.flush();
      case 'reset':
        return this.#engineStream?.reset();
      case 'end':
        void this.#end(action.ending);
    }
  }

  #write(pcm: Uint8Array): void {
    const taken = this.#engineStream?.write(pcm);
    if (taken === undefined || taken === TAKEN) return;
    // Nothing more is read until the engine has taken this: what waits is what the socket had already delivered.
    this.#pendingWrites += 1;
    if (this.#pendingWrites === 1) this.#input.socket.pause();
    const resume = (): void => {
      this.#pendingWrites -= 1;
      if (this.#pendingWrites === 0) this.#input.socket.resume();
    };
    // A write that fails is followed by an error among the events, which says why.
    taken.then(resume, resume);
  }

  #send(event: ServerEvent): void {
    const { socket, limits } = this.#input;
    this.#measure(event);
    if (socket.readyState !== socket.OPEN) return;
    socket.send(encodeEvent(event));
    if (socket.bufferedAmount > limits.unreadBytes && !this.#isOver) this.end('slow_reader');
  }

  #openEngine(): void {
    const { engine, session } = this.#input;
    this.#isOpeningEngine = true;
    engine.open({ model: session.model, signal: this.#opening.signal }).then(
      (stream) => this.#onEngineOpen(stream),
      (error: unknown) => this.#onEngineRefused(error),
    );
  }

  #onEngineOpen(stream: EngineStream): void {
    this.#isOpeningEngine = false;
    if (this.#isOver) return void stream.close();
    this.#engineStream = stream;
    this.#readyAtMs = this.#now();
    const { chunkSamples } = stream;
    this.#take(onReady(this.#state, { chunkSamples, nowMs: this.#readyAtMs }));
    void this.#listen(stream);
  }

  /** A slot that was free at the upgrade may be gone when a child process died: tried again until time is up. */
  #onEngineRefused(error: unknown): void {
    this.#isOpeningEngine = false;
    if (this.#isOver) return;
    if (error instanceof EngineBusy) this.#take(onWaiting(this.#state, 'queued'));
    else this.end('internal_error');
  }

  async #listen(stream: EngineStream): Promise<void> {
    for await (const event of stream.events) this.#take(onEngineEvent(this.#state, event));
  }

  #watchReader(nowMs: number): void {
    const { bufferedAmount } = this.#input.socket;
    if (bufferedAmount === 0 || bufferedAmount < this.#unreadBytes) this.#readAtMs = nowMs;
    this.#unreadBytes = bufferedAmount;
    if (nowMs - this.#readAtMs >= this.#input.limits.unreadMs) this.end('slow_reader');
  }

  #watchWire(nowMs: number, reading: boolean): void {
    const { socket, wire, limits } = this.#input;
    if (!reading || wire.bytesRead !== this.#wireBytes) {
      this.#wireBytes = wire.bytesRead;
      this.#wireAtMs = nowMs;
    }
    if (nowMs - this.#wireAtMs >= limits.connectionLostMs) {
      this.#take(onClientGone(this.#state));
      socket.terminate();
      return;
    }
    if (nowMs - this.#pingedAtMs < limits.pingIntervalMs || socket.readyState !== socket.OPEN)
      return;
    this.#pingedAtMs = nowMs;
    socket.ping();
  }

  /** The ledger first, then the close frame: whoever has seen the close may create the next session at once. */
  async #end(ending: Ending): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    const { socket, settle, metrics, onEnd } = this.#input;
    const { meter } = this.#state;
    const samples = meter.acceptedSamples;
    this.#opening.abort();
    if (ending.status === 'completed') metrics.billed(billableMs(meter, samples));
    metrics.accepted(audioMs(samples));
    const settled = settle({ status: ending.status, samples });
    const freed = this.#engineStream?.close();
    await Promise.race([Promise.all([settled, freed]), pass(SETTLE_BEFORE_CLOSE_MS)]);
    // A socket that was held back would not see the client's answer to the close.
    socket.resume();
    socket.finish(ending.closeCode, ending.reason);
    onEnd(this, ending);
  }

  #measure(event: ServerEvent): void {
    const { metrics } = this.#input;
    const nowMs = this.#now();
    if (event.type === 'ready') metrics.ready(nowMs - this.#state.openedAtMs);
    if (event.type === 'delta' && !this.#hasDelta) {
      this.#hasDelta = true;
      metrics.firstDelta(nowMs - this.#readyAtMs);
    }
    if (event.type === 'final') metrics.final(nowMs - (this.#flushedAtMs.shift() ?? nowMs));
  }

  #now(): number {
    return this.#input.clock.monotonicMs();
  }
}

/** So much time, for waits that must have an end; alone it keeps no process alive. */
export function pass(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
