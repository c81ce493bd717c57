import type { DeltaEvent, FinalEvent } from '@svc-asr/protocol';
import { ceilMs, floorMs, type Origin, type SessionClock } from './session-clock.ts';
import type { Settled } from './tape.ts';

/** What one session cost: null while unknown (a connection that was lost; `GET /v1/usage` will tell). */
export interface SessionReceipt {
  readonly sessionId: string;
  readonly billableMs: number | null;
}

/** All that was recognised, over however many sessions, in the caller's time. */
export interface Transcript {
  readonly text: string;
  readonly finals: readonly FinalEvent[];
  readonly words: FinalEvent['words'];
  readonly sessions: readonly SessionReceipt[];
}

/** Joins what the sessions say into one transcript: utterances counted through, times in the caller's time. */
export class Stitcher {
  readonly #finals: FinalEvent[] = [];
  readonly #receipts: { sessionId: string; billableMs: number | null }[] = [];
  #shownMs = 0;
  #endMs = 0;

  beginSession(sessionId: string): void {
    this.#receipts.push({ sessionId, billableMs: 0 });
  }

  endSession(billed: 'as_told' | 'nothing' | 'unknown'): void {
    const receipt = this.#receipts.at(-1);
    if (receipt === undefined || billed === 'as_told') return;
    receipt.billableMs = billed === 'nothing' ? 0 : null;
  }

  /** Null for what the caller has seen already: a new session hears the open utterance again from its start. */
  onDelta(event: DeltaEvent): DeltaEvent | null {
    if (event.audio_ms < this.#shownMs) return null;
    this.#shownMs = event.audio_ms;
    return { ...event, text: event.text.normalize('NFC'), utterance: this.#finals.length };
  }

  onFinal(event: FinalEvent, settled: Settled, clock: SessionClock): FinalEvent {
    this.#shownMs = 0;
    const receipt = this.#receipts.at(-1);
    if (receipt !== undefined) receipt.billableMs = event.billable_ms;
    const { start_ms, end_ms, origin } = placed(event, settled, this.#endMs);
    this.#endMs = end_ms;
    const final: FinalEvent = {
      ...event,
      text: event.text.normalize('NFC'),
      utterance: this.#finals.length,
      start_ms,
      end_ms,
      words: event.words.map((word) => ({
        ...word,
        text: word.text.normalize('NFC'),
        start_ms: Math.min(end_ms, clock.toCaller(word.start_ms, origin, 'start')),
        end_ms: Math.min(end_ms, clock.toCaller(word.end_ms, origin, 'end')),
      })),
      total_audio_ms: end_ms,
      billable_ms: this.#billableMs(),
    };
    this.#finals.push(final);
    return final;
  }

  onReset(): void {
    this.#shownMs = 0;
  }

  /** What a flush without audio brings: nothing, at that moment. It is no part of the transcript. */
  emptyFinal(atMs: number): FinalEvent {
    return {
      type: 'final',
      text: '',
      utterance: this.#finals.length,
      reason: 'flush',
      start_ms: atMs,
      end_ms: atMs,
      words: [],
      audio_ms: 0,
      total_audio_ms: atMs,
      billable_ms: this.#billableMs(),
    };
  }

  get transcript(): Transcript {
    return {
      text: this.#finals
        .map((final) => final.text)
        .filter((text) => text !== '')
        .join(' '),
      finals: [...this.#finals],
      words: this.#finals.flatMap((final) => final.words),
      sessions: this.#receipts.map((receipt) => ({ ...receipt })),
    };
  }

  #billableMs(): number {
    return this.#receipts.reduce((sum, receipt) => sum + (receipt.billableMs ?? 0), 0);
  }
}

/** Where an utterance lies: we know to the sample what was sent. One without audio lies where the last one ended. */
function placed(event: FinalEvent, settled: Settled, lastEndMs: number) {
  const { startSample, endSample } = settled;
  const start_ms = startSample === null ? lastEndMs : floorMs(startSample);
  const end_ms = endSample === null ? lastEndMs : ceilMs(endSample);
  const origin: Origin = { sessionMs: event.start_ms, callerMs: start_ms };
  return { start_ms, end_ms, origin };
}
