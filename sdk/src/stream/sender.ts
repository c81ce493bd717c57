import { AUDIO, LIMITS } from '@svc-asr/protocol/constants.ts';
import type { Connection } from './connection.ts';
import { PauseFinder } from './pause-finder.ts';
import type { Tape } from './tape.ts';

/** So much may wait in the socket; the rest waits on the tape, where it can be replayed. */
const SOCKET_BYTES_MAX = 64 * 1024;
const PUMP_MS = 20;
/** The service refuses more than five flushes a second. */
const FLUSH_SPACING_MS = 250;
/** From here on the next pause is taken to change sessions. */
const ROLLOVER_SAMPLES = 10 * AUDIO.sampleRateHz;
const ROLLOVER_AGE_MS = LIMITS.sessionWallClockMs - 60_000;
/** So long before the service would call the stream idle. */
const LEAVE_EARLY_MS = 10_000;

/** Why a session is left of our own accord: its limit is near, or nothing has been said for long. */
export type Move = 'rollover' | 'resume';

interface SenderOptions {
  readonly tape: Tape;
  /** Whether there can be a next session to move to. */
  readonly mayMove: boolean;
  readonly newId: () => number;
  readonly onSent: () => void;
}

/** Carries the tape to the present session: at the socket's pace, within its limits, and away in time. */
export class Sender {
  readonly #options: SenderOptions;
  #connection: Connection | null = null;
  #pauses = new PauseFinder();
  /** A flush of our own, after whose final the session is left. */
  #boundary: { readonly id: number; readonly move: Move } | null = null;
  #move: Move | null = null;
  #flushedAt = -Infinity;
  #pumpTimer: ReturnType<typeof setTimeout> | undefined;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Set when the session was left by a move. */
  get move(): Move | null {
    return this.#move;
  }

  attach(connection: Connection): void {
    this.#connection = connection;
    this.#pauses = new PauseFinder();
    this.#boundary = null;
    this.#move = null;
  }

  detach(): void {
    this.#connection = null;
    clearTimeout(this.#pumpTimer);
    clearTimeout(this.#idleTimer);
  }

  /** Sends what may be sent now. Called whenever something changed, and by itself while something waits. */
  pump(): void {
    const { tape } = this.#options;
    clearTimeout(this.#pumpTimer);
    const connection = this.#connection;
    if (connection === null || connection.ready === null) return;
    while (connection.bufferedBytes < SOCKET_BYTES_MAX && this.#maySend(connection)) {
      const entry = tape.next(connection.samplesLeft);
      if (entry === undefined) break;
      connection.send(entry);
      if (entry.kind === 'audio') this.#pauses.hear(entry.pcm);
      if (entry.kind === 'flush') this.#flushedAt = performance.now();
      this.watchIdle();
    }
    if (!tape.isSent) this.#pumpTimer = setTimeout(() => this.pump(), PUMP_MS);
    this.#options.onSent();
  }

  /** Before the service closes an idle session: end the utterance, leave, and come back with the next audio. */
  watchIdle(): void {
    const ready = this.#connection?.ready ?? null;
    clearTimeout(this.#idleTimer);
    if (ready === null || !this.#options.mayMove) return;
    const restMs = Math.max(ready.idle_timeout_ms / 2, ready.idle_timeout_ms - LEAVE_EARLY_MS);
    this.#idleTimer = setTimeout(() => this.#rest(), restMs);
  }

  /** These flushes have their finals: if our own is among them, the session has done its part. */
  onAnswered(ids: readonly number[]): void {
    if (this.#boundary === null || !ids.includes(this.#boundary.id)) return;
    this.#move = this.#boundary.move;
    this.#connection?.close();
  }

  #maySend(connection: Connection): boolean {
    const { tape } = this.#options;
    if (tape.peek()?.kind === 'audio' && this.#isTimeToRoll(connection)) this.#leave('rollover');
    const next = tape.peek();
    if (next === undefined) return false;
    if (this.#boundary !== null && (next.kind !== 'flush' || next.id !== this.#boundary.id)) {
      return false;
    }
    if (next.kind === 'flush') return performance.now() - this.#flushedAt >= FLUSH_SPACING_MS;
    return next.kind === 'reset' || connection.samplesLeft > 0;
  }

  #isTimeToRoll(connection: Connection): boolean {
    if (!this.#options.mayMove || this.#boundary !== null || connection.clock.heard === 0) {
      return false;
    }
    const limit = connection.clock.heard + connection.samplesLeft;
    const near = connection.samplesLeft < Math.min(ROLLOVER_SAMPLES, limit / 4);
    const old = performance.now() - connection.startedAt > ROLLOVER_AGE_MS;
    return (near && this.#pauses.isPause) || old;
  }

  #rest(): void {
    const connection = this.#connection;
    if (connection === null || connection.ready === null || this.#boundary !== null) return;
    if (!this.#options.tape.isEmpty) this.#leave('resume');
    else {
      this.#move = 'resume';
      connection.close();
    }
    this.pump();
  }

  /** A flush where the session stands: its final is the border between two sessions. */
  #leave(move: Move): void {
    const id = this.#options.newId();
    this.#options.tape.flushHere(id);
    this.#boundary = { id, move };
  }
}
