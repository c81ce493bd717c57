import type { FinalEvent, SvcStream, Transcript, Word } from '@svc-asr/sdk/stream';

/** One file's part of a stream, with times from the start of the file. */
export class FileTranscript {
  readonly finals: readonly FinalEvent[];
  readonly audioMs: number;
  /** The charge of each session for this file. */
  readonly sessions: readonly { readonly sessionId: string; readonly chargedMs: number }[];

  constructor(fields: Pick<FileTranscript, 'finals' | 'audioMs' | 'sessions'>) {
    this.finals = fields.finals;
    this.audioMs = fields.audioMs;
    this.sessions = fields.sessions;
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

  /** How far the transcript reaches. */
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

/** A stream's state at the start of a file. */
export class Mark {
  readonly #before: Transcript;
  readonly #offsetMs: number;

  constructor(stream: SvcStream, offsetMs: number) {
    this.#before = stream.transcript;
    this.#offsetMs = Math.floor(offsetMs);
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
    return {
      ...final,
      start_ms: this.#shift(final.start_ms),
      end_ms: this.#shift(final.end_ms),
      words: final.words.map((word) => ({
        ...word,
        start_ms: this.#shift(word.start_ms),
        end_ms: this.#shift(word.end_ms),
      })),
    };
  }

  #shift(ms: number): number {
    return Math.max(0, ms - this.#offsetMs);
  }
}
