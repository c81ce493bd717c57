interface TurnEvents {
  readonly onStart: () => void;
  /** `speechEndMs` is the end of speech in the stream's time, or null if the service did not report it. */
  readonly onEnd: (speechEndMs: number | null) => void;
  /** The turn's final is late. Flush, and call `onFlush`: a flush is always answered. */
  readonly onFinalLate: () => void;
}

interface Turn {
  /** Where its speech starts in the stream's time, or -1 if the service did not report it. */
  startMs: number;
  endMs: number | null;
  isSpeaking: boolean;
  hasText: boolean;
}

/** How long the end of a turn waits for a final. If nothing was recognised, none comes unless asked for. */
const FINAL_WAIT_MS = 1_000;
/** Times of events are rounded to milliseconds. */
const ROUNDING_MS = 2;

/**
 * Builds turns from the service's speech events. A turn ends after its final, so that an agent responds
 * to all of its words. Speech that starts after less than `silenceMs` of silence belongs to the same turn, because a
 * session at its limit also ends speech.
 *
 * After an outage the service hears several turns at once: their speech events arrive before the first final. The later
 * turns wait, and start when the turn before them has ended.
 */
export class TurnTracker {
  readonly #events: TurnEvents;
  readonly #silenceMs: number;
  /** Open turns in order. Only the first has been reported. */
  readonly #turns: Turn[] = [];
  #flushesPending = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(events: TurnEvents, options: { silenceMs: number }) {
    this.#events = events;
    this.#silenceMs = options.silenceMs;
  }

  onSpeechStarted(audioMs: number): void {
    clearTimeout(this.#timer);
    const last = this.#turns.at(-1);
    if (last === undefined || this.#isNextTurn(last, audioMs)) {
      this.#add({ startMs: audioMs, endMs: null, isSpeaking: true, hasText: false });
    } else last.isSpeaking = true;
  }

  onSpeechEnded(audioMs: number): void {
    const last = this.#turns.at(-1);
    if (last === undefined || !last.isSpeaking) return;
    last.isSpeaking = false;
    last.endMs = audioMs;
    this.#waitForFinal();
  }

  /** Interim text needs a turn that has started. */
  onInterim(): void {
    const [current, next] = this.#turns;
    // The text after a turn's final belongs to the next turn.
    if (next !== undefined && current?.hasText === true && !current.isSpeaking) this.#endTurns(1);
    if (current === undefined) this.#addWithoutSpeech();
  }

  /** Final text without speech events is a turn as well. */
  onText(): void {
    const isNew = this.#turns.length === 0;
    if (isNew) this.#addWithoutSpeech();
    for (const turn of this.#turns.slice(0, 1)) turn.hasText = true;
    if (isNew) this.#waitForFinal();
  }

  /** A flush always gets a final, however long that takes. */
  onFlush(): void {
    this.#flushesPending += 1;
    clearTimeout(this.#timer);
  }

  /** The final of a flush arrived. `endMs` is its end in the stream's time. */
  onFlushFinal(endMs: number): void {
    this.#flushesPending -= 1;
    this.onTurnFinal(endMs);
  }

  /** The final of an endpoint or of a flush arrived. It ends the turns that it covers. */
  onTurnFinal(endMs: number): void {
    const open = this.#turns.findIndex((turn) => turn.isSpeaking || turn.startMs >= endMs);
    const covered = open < 0 ? this.#turns.length : open;
    if (covered > 0) this.#endTurns(covered);
    this.#waitForFinal();
  }

  /** Without a session no final can arrive. */
  onDisconnected(): void {
    clearTimeout(this.#timer);
  }

  /** The stream ended, and its pending flushes with it. The next stream's time starts at 0 again. */
  onStreamEnded(): void {
    clearTimeout(this.#timer);
    this.#flushesPending = 0;
    for (const turn of this.#turns) turn.startMs = -1;
  }

  onReady(): void {
    this.#waitForFinal();
  }

  /** Ends all open turns now. */
  end(): void {
    clearTimeout(this.#timer);
    while (this.#turns.length > 0) this.#endTurns(1);
  }

  #isNextTurn(last: Turn, startMs: number): boolean {
    if (last.isSpeaking || last.endMs === null) return false;
    return startMs - last.endMs >= this.#silenceMs - ROUNDING_MS;
  }

  #addWithoutSpeech(): void {
    this.#add({ startMs: -1, endMs: null, isSpeaking: false, hasText: false });
  }

  #add(turn: Turn): void {
    this.#turns.push(turn);
    if (this.#turns.length === 1) this.#events.onStart();
  }

  /** Turns that share a final are one turn to the agent. */
  #endTurns(count: number): void {
    const ended = this.#turns.splice(0, count);
    this.#events.onEnd(ended.at(-1)?.endMs ?? null);
    if (this.#turns.length > 0) this.#events.onStart();
  }

  /** Waits for the final of an open turn while nobody speaks. */
  #waitForFinal(): void {
    clearTimeout(this.#timer);
    const last = this.#turns.at(-1);
    if (last === undefined || last.isSpeaking || this.#flushesPending > 0) return;
    this.#timer = setTimeout(() => this.#events.onFinalLate(), FINAL_WAIT_MS);
  }
}
