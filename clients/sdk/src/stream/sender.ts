import type { ReadyEvent } from '@svc-asr/protocol';
import { SAMPLES_PER_MS, SESSION_WALL_CLOCK_MS } from '@svc-asr/protocol/constants.ts';
import type { Connection } from './connection.ts';
import { PauseDetector } from './pause-detector.ts';
import type { ReplayBuffer } from './replay-buffer.ts';

/** At most this much waits in the socket. The rest stays in the replay buffer. */
const SOCKET_BYTES_MAX = 64 * 1024;
const PUMP_MS = 20;
/** The service refuses more than five flushes a second. */
const FLUSH_SPACING_MS = 250;
/** Close to the audio limit the next pause is used to change sessions. */
const ROLLOVER_SAMPLES = 10_000 * SAMPLES_PER_MS;
/** How long before the session's time limit the stream changes sessions. */
const ROLLOVER_EARLY_MS = 60_000;
/** How long before the idle timeout the stream leaves the session. */
const IDLE_EARLY_MS = 10_000;

/** Why the stream leaves a healthy session: a limit is near, or it has been idle. */
export type Handover = 'rollover' | 'resume';

interface SenderOptions {
  readonly buffer: ReplayBuffer;
  /** Whether another session can follow. */
  readonly canReconnect: boolean;
  readonly newId: () => number;
  readonly onSent: () => void;
}

/** Sends the replay buffer to the current session at the socket's pace, and leaves the session before its limits. */
export class Sender {
  readonly #options: SenderOptions;
  #connection: Connection | null = null;
  #pauses = new PauseDetector();
  /** The sender's own flush. The stream leaves the session after its final. */
  #lastFlush: { readonly id: number; readonly handover: Handover } | null = null;
  #handover: Handover | null = null;
  #flushedAt = -Infinity;
  #pumpTimer: ReturnType<typeof setTimeout> | undefined;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Set when the sender left the session on purpose. */
  get handover(): Handover | null {
    return this.#handover;
  }

  attach(connection: Connection): void {
    this.#connection = connection;
    this.#pauses = new PauseDetector();
    this.#lastFlush = null;
    this.#handover = null;
  }

  detach(): void {
    this.#connection = null;
    clearTimeout(this.#pumpTimer);
    clearTimeout(this.#idleTimer);
  }

  /** Sends as much as possible. Called on every change, and by a timer while something is unsent. */
  pump(): void {
    const { buffer } = this.#options;
    clearTimeout(this.#pumpTimer);
    const connection = this.#connection;
    if (connection === null || connection.ready === null) return;
    while (connection.bufferedBytes < SOCKET_BYTES_MAX && this.#maySend(connection)) {
      const entry = buffer.next(connection.samplesLeft);
      if (entry === undefined) break;
      connection.send(entry);
      if (entry.kind === 'audio') this.#pauses.push(entry.pcm);
      if (entry.kind === 'flush') this.#flushedAt = performance.now();
      this.restartIdleTimer();
    }
    if (buffer.isSent) connection.setKeyterms(buffer.keyterms);
    else this.#pumpTimer = setTimeout(() => this.pump(), PUMP_MS);
    this.#options.onSent();
  }

  /** Leaves the session before the service closes it as idle. The next audio opens a new one. */
  restartIdleTimer(): void {
    const ready = this.#connection?.ready ?? null;
    clearTimeout(this.#idleTimer);
    if (ready === null || !this.#options.canReconnect) return;
    const leaveMs = Math.max(ready.idle_timeout_ms / 2, ready.idle_timeout_ms - IDLE_EARLY_MS);
    this.#idleTimer = setTimeout(() => this.#leaveIdleSession(), leaveMs);
  }

  /** Leaves the session if the sender's own flush is among the answered ones. */
  onAnswered(ids: readonly number[]): void {
    if (this.#lastFlush === null || !ids.includes(this.#lastFlush.id)) return;
    this.#handover = this.#lastFlush.handover;
    this.#connection?.close();
  }

  #maySend(connection: Connection): boolean {
    const { buffer } = this.#options;
    if (buffer.peek()?.kind === 'audio' && this.#shouldRollOver(connection)) {
      this.#flushAndLeave('rollover');
    }
    const next = buffer.peek();
    if (next === undefined) return false;
    if (this.#lastFlush !== null && (next.kind !== 'flush' || next.id !== this.#lastFlush.id)) {
      return false;
    }
    if (next.kind === 'flush') return performance.now() - this.#flushedAt >= FLUSH_SPACING_MS;
    return next.kind === 'reset' || connection.samplesLeft > 0;
  }

  #shouldRollOver(connection: Connection): boolean {
    const { clock, ready, samplesLeft, startedAt } = connection;
    if (!this.#options.canReconnect || this.#lastFlush !== null || clock.sentSamples === 0) {
      return false;
    }
    const limit = clock.sentSamples + samplesLeft;
    const nearLimit = samplesLeft < Math.min(ROLLOVER_SAMPLES, limit / 4);
    const isOld = performance.now() - startedAt > rolloverAgeMs(ready);
    return (nearLimit && this.#pauses.isPause) || isOld;
  }

  #leaveIdleSession(): void {
    const connection = this.#connection;
    if (connection === null || connection.ready === null || this.#lastFlush !== null) return;
    if (!this.#options.buffer.isEmpty) this.#flushAndLeave('resume');
    else {
      this.#handover = 'resume';
      connection.close();
    }
    this.pump();
  }

  /** Flushes what was sent so far. Its final is the border between two sessions. */
  #flushAndLeave(handover: Handover): void {
    const id = this.#options.newId();
    this.#options.buffer.flushSent(id);
    this.#lastFlush = { id, handover };
  }
}

/** A minute before the session's time limit, or half-way where the limit is short. */
function rolloverAgeMs(ready: ReadyEvent | null): number {
  const announced: unknown =
    ready !== null && 'session_time_limit_ms' in ready ? ready.session_time_limit_ms : null;
  const limitMs = typeof announced === 'number' ? announced : SESSION_WALL_CLOCK_MS;
  return Math.max(limitMs / 2, limitMs - ROLLOVER_EARLY_MS);
}
