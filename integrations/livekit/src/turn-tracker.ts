interface TurnEvents {
  readonly onStart: () => void;
  /** `speechEndMs` is the end of speech in the stream's time, or null if the service did not report it. */
  readonly onEnd: (speechEndMs: number | null) => void;
  /** The turn's final is late. Flush, and call `onFlush`: a flush is always answered. */
  readonly onFinalLate: () => void;
}

/** How long the end of a turn waits for a final. If nothing was recognised, none comes unless asked for. */
const FINAL_WAIT_MS = 1_000;

/**
 * Builds turns from the service's speech events. A turn ends after its final, so that an agent responds
 * to all of its words. Speech that resumes before that belongs to the same turn, because a session at
 * its limit also ends speech.
 */
export class TurnTracker {
  readonly #events: TurnEvents;
  #state: 'silence' | 'speech' | 'ending' = 'silence';
  /** Where the turn's speech starts in the stream's time, or -1 if the service did not report it. */
  #speechStartMs = -1;
  #speechEndMs: number | null = null;
  #flushesPending = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(events: TurnEvents) {
    this.#events = events;
  }

  onSpeechStarted(audioMs: number): void {
    clearTimeout(this.#timer);
    if (this.#state === 'silence') {
      this.#speechStartMs = audioMs;
      this.#events.onStart();
    }
    this.#state = 'speech';
  }

  onSpeechEnded(audioMs: number): void {
    if (this.#state !== 'speech') return;
    this.#state = 'ending';
    this.#speechEndMs = audioMs;
    this.#waitForFinal();
  }

  /** Text without speech events is a turn as well. */
  onText(): void {
    if (this.#state !== 'silence') return;
    this.#events.onStart();
    this.#state = 'ending';
    this.#waitForFinal();
  }

  /** A flush always gets a final, however long that takes. */
  onFlush(): void {
    this.#flushesPending += 1;
    clearTimeout(this.#timer);
  }

  /** A final that ends before the turn's speech starts answers a flush of an earlier turn. */
  onFlushFinal(endMs: number): void {
    this.#flushesPending -= 1;
    if (endMs > this.#speechStartMs) this.onTurnFinal();
    else if (this.#state === 'ending') this.#waitForFinal();
  }

  /** The final of an endpoint or of a flush arrived. */
  onTurnFinal(): void {
    if (this.#state === 'ending') this.end();
  }

  /** Without a session no final can arrive. */
  onDisconnected(): void {
    clearTimeout(this.#timer);
  }

  /** The stream ended, and its pending flushes with it. The next stream's time starts at 0 again. */
  onStreamEnded(): void {
    clearTimeout(this.#timer);
    this.#flushesPending = 0;
    this.#speechStartMs = -1;
  }

  onReady(): void {
    if (this.#state === 'ending') this.#waitForFinal();
  }

  /** Ends an open turn now. */
  end(): void {
    clearTimeout(this.#timer);
    if (this.#state === 'silence') return;
    this.#state = 'silence';
    this.#speechStartMs = -1;
    const speechEndMs = this.#speechEndMs;
    this.#speechEndMs = null;
    this.#events.onEnd(speechEndMs);
  }

  #waitForFinal(): void {
    clearTimeout(this.#timer);
    if (this.#flushesPending > 0) return;
    this.#timer = setTimeout(() => this.#events.onFinalLate(), FINAL_WAIT_MS);
  }
}
