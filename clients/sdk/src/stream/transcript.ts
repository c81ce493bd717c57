import type {
  DeltaEvent,
  FinalEvent,
  ResetAckEvent,
  SpeechEndedEvent,
  SpeechStartedEvent,
  TurnEagerEvent,
  TurnResumedEvent,
  Word,
} from '@svc-asr/protocol';
import { ceilMs, floorMs, type Origin, type SessionClock } from './session-clock.ts';
import type { Settled } from './replay-buffer.ts';

/** What one session cost. Null when the connection was lost: `GET /v1/usage` has the figure. */
export interface SessionReceipt {
  readonly sessionId: string;
  readonly billableMs: number | null;
}

/** The recognised text of all sessions, in the caller's time. */
export interface Transcript {
  readonly text: string;
  readonly finals: readonly FinalEvent[];
  readonly words: FinalEvent['words'];
  readonly sessions: readonly SessionReceipt[];
}

/** Joins the events of all sessions into one transcript with continuous utterance numbers and times. */
export class TranscriptBuilder {
  readonly #finals: FinalEvent[] = [];
  readonly #receipts: { sessionId: string; billableMs: number | null }[] = [];
  #shownMs = 0;
  #endMs = 0;
  /** How many eager ends of turn were reported, and whether the last one is open. Sessions number their own. */
  #eagers = 0;
  #isEager = false;
  #isSpeaking = false;
  /** Where the last reported speech ended. */
  #speechEndMs = -1;
  /** The session's utterance in which that was. */
  #speechEndIn: number | null = null;
  /** Where the speech before it ended. */
  #previousEndMs = -1;

  beginSession(sessionId: string): void {
    this.#speechEndIn = null;
    this.#receipts.push({ sessionId, billableMs: 0 });
  }

  endSession(billed: 'as_told' | 'nothing' | 'unknown'): void {
    if (billed !== 'as_told') this.#charge(billed === 'nothing' ? 0 : null);
  }

  /** Returns null for text the caller has seen: a new session receives the open utterance from its start. */
  onDelta(event: DeltaEvent): DeltaEvent | null {
    if (event.audio_ms < this.#shownMs) return null;
    this.#shownMs = event.audio_ms;
    return { ...composed(event), utterance: this.#finals.length };
  }

  /** The caller dropped the audio of this final. It is charged all the same. */
  onCharged(event: FinalEvent): void {
    this.#charge(event.billable_ms);
  }

  /** Dropped audio is charged by the started second, even if no final follows in this session. */
  onDropped({ total_audio_ms: totalMs, billable_ms: toldMs }: ResetAckEvent): void {
    const chargedMs = toldMs ?? Math.ceil(totalMs / 1000) * 1000;
    this.#charge(Math.max(this.#receipts.at(-1)?.billableMs ?? 0, chargedMs));
  }

  onEager(event: TurnEagerEvent, clock: SessionClock): TurnEagerEvent | null {
    if (this.#isEager) return null;
    this.#isEager = true;
    this.#eagers += 1;
    return {
      ...composed(event),
      utterance: this.#finals.length,
      eager: this.#eagers,
      words: event.words.map((word) => ({
        ...composed(word),
        start_ms: clock.callerMs(word.start_ms),
        end_ms: clock.callerMs(word.end_ms),
      })),
      audio_ms: clock.callerMs(event.audio_ms),
    };
  }

  /** Returns null if none is open. */
  onResumed(): TurnResumedEvent | null {
    if (!this.#isEager) return null;
    this.#isEager = false;
    return { type: 'turn_resumed', utterance: this.#finals.length, eager: this.#eagers };
  }

  onFinal(event: FinalEvent, settled: Settled, clock: SessionClock): FinalEvent {
    this.#shownMs = 0;
    this.#isEager = false;
    this.#charge(event.billable_ms);
    // One without audio lies at the end of the last one.
    const { startSample, endSample } = settled;
    const start_ms = startSample === null ? this.#endMs : floorMs(startSample);
    const end_ms = endSample === null ? this.#endMs : ceilMs(endSample);
    const origin: Origin = { sessionMs: event.start_ms, callerMs: start_ms };
    this.#endMs = end_ms;
    const inCallerTime = <Part extends Pick<Word, 'text' | 'start_ms' | 'end_ms'>>(part: Part) => ({
      ...composed(part),
      start_ms: Math.min(end_ms, clock.toCaller(part.start_ms, origin, 'start')),
      end_ms: Math.min(end_ms, clock.toCaller(part.end_ms, origin, 'end')),
    });
    const final: FinalEvent = {
      ...composed(event),
      utterance: this.#finals.length,
      ...(event.eager === undefined ? {} : { eager: this.#eagers }),
      start_ms,
      end_ms,
      words: event.words.map(inCallerTime),
      ...(event.entities === undefined ? {} : { entities: event.entities.map(inCallerTime) }),
      total_audio_ms: end_ms,
      billable_ms: this.#billableMs(),
    };
    this.#finals.push(final);
    return final;
  }

  /** Returns null for speech that was already reported, because a new session replays the open utterance. */
  onSpeech<Event extends SpeechStartedEvent | SpeechEndedEvent>(
    event: Event,
    clock: SessionClock,
  ): Event | null {
    const starts = event.type === 'speech_started';
    const audio_ms = clock.callerMs(event.audio_ms);
    if (starts === this.#isSpeaking || audio_ms <= this.#speechEndMs) return null;
    this.#isSpeaking = starts;
    if (!starts) {
      this.#speechEndIn = event.utterance;
      this.#previousEndMs = this.#speechEndMs;
      this.#speechEndMs = audio_ms;
    }
    return { ...event, utterance: this.#finals.length, audio_ms };
  }

  /** Speech that a restarting server cut continues in the next session, which reports its start again. */
  onDraining({ utterance }: FinalEvent): void {
    if (this.#speechEndIn === utterance) this.#speechEndMs = this.#previousEndMs;
  }

  onReset(): void {
    this.#shownMs = 0;
  }

  /** The answer to a flush without audio. It is not part of the transcript. */
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

  /** Null: the cost of the current session is unknown. */
  #charge(billableMs: number | null): void {
    const receipt = this.#receipts.at(-1);
    if (receipt !== undefined) receipt.billableMs = billableMs;
  }

  #billableMs(): number {
    return this.#receipts.reduce((sum, receipt) => sum + (receipt.billableMs ?? 0), 0);
  }
}

/** The same, with letters and their accents composed. */
function composed<Part extends { readonly text: string }>(part: Part): Part {
  return { ...part, text: part.text.normalize('NFC') };
}
