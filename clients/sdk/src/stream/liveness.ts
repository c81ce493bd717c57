/** After this long without an event the client asks for an answer, if the service owes one. */
const QUIET_MS = 300;
/** Even while other events arrive, it asks this often: only an answer shows how much audio was read. */
const ASK_MS = 2_000;
/** An answer that takes longer is reported: with `QUIET_MS` and the checks, less than 3 s after a cut. */
const ANSWER_MS = 2_000;
/** A network with slow answers gets this many times the slowest one. */
const PATIENCE = 1.5;
/** Without an answer for this long, the connection is given up. */
export const LOST_MS = 12_000;
/** The service reads live audio at once. More audio than this on the way extends the time limits. */
const LIVE_MS = 1_500;
/** After a longer gap between two checks the page or process was suspended. The gap says nothing about the service. */
const SUSPENDED_MS = 1_500;

/** `ask`: send a message that the service answers. `stalled` is returned once, until `onEvent` returns `recovered`. */
export type Verdict = 'ask' | 'stalled' | 'lost' | null;

interface Question {
  /** The audio that was sent before it. */
  readonly audioMs: number;
  /** Audio that the service has to read before the question. */
  readonly unreadMs: number;
  readonly askedAt: number;
  /** Moves with every event: the answer may be late, but the connection works. */
  waitingSince: number;
}

/**
 * Decides whether the service still answers, from times alone. TCP takes minutes to notice a dead network, and browsers
 * hide WebSocket pings, so the client asks a question whenever it sends and hears nothing. A stalled connection is
 * reported early and given up late, because most stalls of mobile networks end by themselves.
 */
export class Liveness {
  #audioMs = 0;
  /** The audio that was sent before the last answered question. */
  #answeredMs = 0;
  #hasSentSince = false;
  #question: Question | null = null;
  #isStalled = false;
  #slowestMs: number;
  #eventAt: number;
  #answerAt: number;
  #checkedAt: number;

  /** `openMs` is how long the handshake took: at least three round trips. */
  constructor(now: number, openMs: number) {
    this.#eventAt = now;
    this.#answerAt = now;
    this.#checkedAt = now;
    this.#slowestMs = openMs / 3;
  }

  onSent(audioMs: number): void {
    this.#audioMs += audioMs;
    this.#hasSentSince = true;
  }

  /** Returns `recovered` if the connection had been reported as stalled. */
  onEvent(now: number, isAnswer: boolean): 'recovered' | null {
    this.#eventAt = now;
    const question = this.#question;
    if (question === null) return null;
    question.waitingSince = now;
    if (!isAnswer) return null;
    this.#slowestMs = Math.max(this.#slowestMs, now - question.askedAt);
    this.#answeredMs = question.audioMs;
    this.#answerAt = now;
    this.#question = null;
    const wasStalled = this.#isStalled;
    this.#isStalled = false;
    return wasStalled ? 'recovered' : null;
  }

  /** The network is known to be gone: the browser says so, or an answer is overdue. */
  onStall(): 'stalled' | null {
    if (this.#isStalled) return null;
    this.#isStalled = true;
    return 'stalled';
  }

  check(now: number): Verdict {
    const gapMs = now - this.#checkedAt;
    this.#checkedAt = now;
    const question = this.#question;
    if (question === null) return this.#shouldAsk(now) ? this.#ask(now) : null;
    if (gapMs > SUSPENDED_MS) question.waitingSince += gapMs;
    const waitedMs = now - question.waitingSince;
    if (waitedMs > LOST_MS + 4 * question.unreadMs) return 'lost';
    const answerMs = Math.max(ANSWER_MS, PATIENCE * this.#slowestMs) + 2 * question.unreadMs;
    return waitedMs > answerMs ? this.onStall() : null;
  }

  #shouldAsk(now: number): boolean {
    if (this.#isStalled) return true;
    return (
      this.#hasSentSince && (now - this.#eventAt >= QUIET_MS || now - this.#answerAt >= ASK_MS)
    );
  }

  #ask(now: number): 'ask' {
    const audioMs = this.#audioMs;
    const unreadMs = Math.max(0, audioMs - this.#answeredMs - LIVE_MS);
    this.#question = { audioMs, unreadMs, askedAt: now, waitingSince: now };
    this.#hasSentSince = false;
    return 'ask';
  }
}
