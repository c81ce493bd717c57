import type { FinalEvent, SvcStream, Transcript, Word } from '@svc-asr/sdk/stream';

/** What one session charged for one file. */
export interface SessionCharge {
  readonly sessionId: string;
  readonly chargedMs: number;
}

/** One file's transcript, with times from the start of the file. */
export class FileTranscript {
  readonly finals: readonly FinalEvent[];
  readonly audioMs: number;
  readonly sessions: readonly SessionCharge[];
  /** The part that earlier runs transcribed and paid for. */
  readonly earlier: FileTranscript | null;

  constructor(
    fields: Pick<FileTranscript, 'finals' | 'audioMs' | 'sessions'>,
    earlier: FileTranscript | null = null,
  ) {
    this.finals = fields.finals;
    this.audioMs = fields.audioMs;
    this.sessions = fields.sessions;
    this.earlier = earlier;
  }

  /** Returns this transcript as the continuation of an earlier one. */
  continuing(earlier: FileTranscript | null): FileTranscript {
    if (earlier === null) return this;
    const fields = {
      finals: [...earlier.finals, ...this.finals],
      audioMs: Math.max(earlier.audioMs, this.audioMs),
      sessions: [...earlier.sessions, ...this.sessions],
    };
    return new FileTranscript(fields, earlier);
  }

  /** The finals with words, one per turn. */
  get turns(): readonly FinalEvent[] {
    return this.finals.filter(({ text }) => text !== '');
  }

  get text(): string {
    return this.turns.map(({ text }) => text).join(' ');
  }

  get words(): readonly Word[] {
    return this.finals.flatMap(({ words }) => words);
  }

  get chargedMs(): number {
    return this.sessions.reduce((sum, { chargedMs }) => sum + chargedMs, 0);
  }

  /** What this run charged, without earlier ones. */
  get chargedNowMs(): number {
    return this.chargedMs - (this.earlier?.chargedMs ?? 0);
  }

  /** How much audio this run read, without the part of earlier ones. */
  get audioNowMs(): number {
    return this.audioMs - (this.earlier?.endMs ?? 0);
  }

  /** How far the transcript reaches. The next run continues here. */
  get endMs(): number {
    return this.finals.at(-1)?.end_ms ?? 0;
  }
}

/** A file ended early. The text so far is paid for, so it is passed on. */
export class PartialTranscriptError extends Error {
  readonly transcript: FileTranscript;

  constructor(cause: unknown, transcript: FileTranscript) {
    super('The transcript is incomplete.', { cause });
    this.name = 'PartialTranscriptError';
    this.transcript = transcript;
  }
}

/** A stream's state at the start of a file, or of its rest. */
export class Mark {
  readonly #before: Transcript;
  readonly #offsetMs: number;
  #chargedMs: number;

  /** `offsetMs` is the stream's time at the start of the file. Negative for the rest of a file on a new stream. */
  constructor(stream: SvcStream, offsetMs: number) {
    this.#before = stream.transcript;
    this.#offsetMs = Math.floor(offsetMs);
    this.#chargedMs = this.#before.sessions.reduce(
      (sum, { billableMs }) => sum + (billableMs ?? 0),
      0,
    );
  }

  /** Returns a new final in the file's time, and what it added to the charge of its session. */
  onFinal(final: FinalEvent, sessionId: string): { final: FinalEvent; charge: SessionCharge } {
    const chargedMs = Math.max(0, final.billable_ms - this.#chargedMs);
    this.#chargedMs = final.billable_ms;
    return { final: this.#shifted(final), charge: { sessionId, chargedMs } };
  }

  /** Returns what the stream transcribed since the mark. */
  transcript(stream: SvcStream, audioMs: number): FileTranscript {
    const { finals, sessions } = stream.transcript;
    const { finals: earlier, sessions: paid } = this.#before;
    const own = sessions.slice(Math.max(0, paid.length - 1)).map(({ sessionId, billableMs }) => {
      const before = paid.find((session) => session.sessionId === sessionId)?.billableMs ?? 0;
      return { sessionId, chargedMs: Math.max(0, (billableMs ?? 0) - before) };
    });
    return new FileTranscript({
      finals: finals.slice(earlier.length).map((final) => this.#shifted(final)),
      audioMs: Math.ceil(audioMs),
      sessions: own,
    });
  }

  #shifted(final: FinalEvent): FinalEvent {
    const shift = <Part extends Pick<Word, 'start_ms' | 'end_ms'>>(part: Part): Part => ({
      ...part,
      start_ms: this.#shift(part.start_ms),
      end_ms: this.#shift(part.end_ms),
    });
    return {
      ...shift(final),
      words: final.words.map(shift),
      ...(final.entities === undefined ? {} : { entities: final.entities.map(shift) }),
    };
  }

  #shift(ms: number): number {
    return Math.max(0, ms - this.#offsetMs);
  }
}
