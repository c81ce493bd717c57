import { SAMPLES_PER_MS, SESSION_WALL_CLOCK_MS } from '@svc-asr/protocol/constants.ts';
import type { Connection } from './connection.ts';
import { PendingResults } from './pending-results.ts';
import { PauseDetector } from './pause-detector.ts';
import type { ReplayBuffer } from './replay-buffer.ts';
import type { SessionSource } from './session-source.ts';
import { failure, rejected } from './stream-errors.ts';
import {
  FLUSH_SPACING_MS,
  IDLE_EARLY_MS,
  PUMP_MS,
  QUEUE_BYTES_MAX,
  ROLLOVER_AUDIO_MS,
  ROLLOVER_EARLY_MS,
  SOCKET_BYTES_MAX,
  UNSENT_BYTES_MAX,
} from './limits.ts';

/** Why the stream leaves a healthy session: a limit is near, or it has been idle. */
export type Handover = 'rollover' | 'resume';

/** Sends the replay buffer to the current session at the socket's pace, and leaves the session before its limits. */
export class Sender {
  readonly #buffer: ReplayBuffer;
  readonly #sessions: SessionSource;
  /** Writes that wait until less is unsent. */
  readonly writes = new PendingResults<void>();
  #connection: Connection | null = null;
  #pauses = new PauseDetector();
  /** The sender's own flush. The stream leaves the session after its final. */
  #lastFlush: { readonly id: number; readonly handover: Handover } | null = null;
  #handover: Handover | null = null;
  #flushedAt = -Infinity;
  #pumpTimer: ReturnType<typeof setTimeout> | undefined;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(buffer: ReplayBuffer, sessions: SessionSource) {
    this.#buffer = buffer;
    this.#sessions = sessions;
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

  onReady(): void {
    this.#restartIdleTimer();
    this.pump();
  }

  /** Resolves when at most `UNSENT_BYTES_MAX` are unsent. */
  write(bytes: Uint8Array): Promise<void> {
    const unsentBytes = this.#buffer.unsentBytes + bytes.byteLength;
    if (unsentBytes > QUEUE_BYTES_MAX) {
      const message = 'Five minutes of audio are queued. Await each write().';
      return rejected(failure('queue_full', message));
    }
    this.#buffer.write(bytes);
    if (unsentBytes <= UNSENT_BYTES_MAX) return Promise.resolve();
    return this.writes.wait(this.#buffer.newId());
  }

  /** Sends as much as possible. Called on every change, and by a timer while something is unsent. */
  pump(): void {
    clearTimeout(this.#pumpTimer);
    const connection = this.#connection;
    if (connection === null || connection.ready === null) return;
    while (connection.bufferedBytes < SOCKET_BYTES_MAX && this.#maySend(connection)) {
      const entry = this.#buffer.next(connection.samplesLeft);
      if (entry === undefined) break;
      connection.send(entry);
      if (entry.kind === 'audio') this.#pauses.push(entry.pcm);
      if (entry.kind === 'flush') this.#flushedAt = performance.now();
      this.#restartIdleTimer();
    }
    if (this.#buffer.peek() === undefined) connection.setKeyterms(this.#buffer.keyterms);
    else this.#pumpTimer = setTimeout(() => this.pump(), PUMP_MS);
    if (this.#buffer.unsentBytes <= UNSENT_BYTES_MAX) this.writes.resolveAll();
  }

  /** Leaves the session if the sender's own flush is among the answered ones. */
  onAnswered(ids: readonly number[]): void {
    if (this.#lastFlush === null || !ids.includes(this.#lastFlush.id)) return;
    this.#handover = this.#lastFlush.handover;
    this.#connection?.close();
  }

  /** Leaves the session before the service closes it as idle. The next audio opens a new one. */
  #restartIdleTimer(): void {
    const ready = this.#connection?.ready ?? null;
    clearTimeout(this.#idleTimer);
    if (ready === null || !this.#sessions.hasMore) return;
    const leaveMs = before(ready.idle_timeout_ms, IDLE_EARLY_MS);
    this.#idleTimer = setTimeout(() => this.#leaveIdleSession(), leaveMs);
  }

  #maySend(connection: Connection): boolean {
    if (this.#buffer.peek()?.kind === 'audio' && this.#shouldRollOver(connection)) {
      this.#flushAndLeave('rollover');
    }
    const next = this.#buffer.peek();
    if (next === undefined) return false;
    if (this.#lastFlush !== null && (next.kind !== 'flush' || next.id !== this.#lastFlush.id)) {
      return false;
    }
    if (next.kind === 'flush') return performance.now() - this.#flushedAt >= FLUSH_SPACING_MS;
    return next.kind === 'reset' || connection.samplesLeft > 0;
  }

  #shouldRollOver(connection: Connection): boolean {
    const { clock, ready, samplesLeft, startedAt } = connection;
    if (!this.#sessions.hasMore || this.#lastFlush !== null || clock.sentSamples === 0) {
      return false;
    }
    const limit = clock.sentSamples + samplesLeft;
    const nearLimit = samplesLeft < Math.min(ROLLOVER_AUDIO_MS * SAMPLES_PER_MS, limit / 4);
    const ageMsMax = ready?.session_time_limit_ms ?? SESSION_WALL_CLOCK_MS;
    const isOld = performance.now() - startedAt > before(ageMsMax, ROLLOVER_EARLY_MS);
    return (nearLimit && this.#pauses.isPause) || isOld;
  }

  #leaveIdleSession(): void {
    const connection = this.#connection;
    if (connection === null || connection.ready === null || this.#lastFlush !== null) return;
    if (!this.#buffer.isEmpty) this.#flushAndLeave('resume');
    else {
      this.#handover = 'resume';
      connection.close();
    }
    this.pump();
  }

  /** Flushes what was sent so far. Its final is the border between two sessions. */
  #flushAndLeave(handover: Handover): void {
    const id = this.#buffer.newId();
    this.#buffer.flushSent(id);
    this.#lastFlush = { id, handover };
  }
}

/** Returns a time this long before a limit, or half-way where the limit is short. */
function before(limitMs: number, earlyMs: number): number {
  return Math.max(limitMs / 2, limitMs - earlyMs);
}
