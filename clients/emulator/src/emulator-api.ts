import type { Fault, Faults } from './faults.ts';

/** One turn of a scripted conversation. The audio is only counted, so it can be silence. */
export interface ScriptedTurn {
  /** The recognised text. Empty for a noise that causes speech events without words. */
  readonly text: string;
  /** Silence before the turn. Default 500. */
  readonly silenceMs?: number;
  /** Length of the speech. Default 560 for each word. */
  readonly speechMs?: number;
}

export interface EmulatorOptions {
  /** Default: 0, any free port. */
  readonly port?: number;
  /** Default: an hour. */
  readonly creditMs?: number;
  /** Sessions at once. Default 1, as in the service. */
  readonly concurrency?: number;
  /** Transcripts, one per utterance in turn. Default: greetings. */
  readonly texts?: readonly string[];
  /** Speech and silence of each session, instead of `texts`. The audio can be silence. */
  readonly turns?: readonly ScriptedTurn[];
  /** A shorter utterance is silence, and its final is empty. Default 0. Endpointing leaves such utterances. */
  readonly shortestMs?: number;
  readonly faults?: readonly Fault[];
  /** Whether the models take keyterms. They don't change a script. Default true. */
  readonly keyterms?: boolean;
  /** How long a stream may be idle before it is closed with 4408. Default 60,000. */
  readonly idleTimeoutMs?: number;
  /** How long a stream may take to get ready. Default 2,000, so that tests of slow-start are quick. */
  readonly initializationMs?: number;
  /** Limit for POST /v1/asr/sessions, with a burst of a third of it. Default: no limit. The service has 30. */
  readonly sessionsPerMinute?: number;
}

export interface Emulator {
  readonly url: string;
  readonly apiKey: string;
  readonly faults: Faults;
  /** Sets the transcripts of the next streams. */
  say(texts: readonly string[]): void;
  /** Sets the speech and silence of the next streams, instead of `say`. */
  play(turns: readonly ScriptedTurn[]): void;
  /** Ends every stream with 1012 and starts again on the same port, with another idle timeout if given. */
  restart(change?: { idleTimeoutMs?: number }): Promise<void>;
  stop(): Promise<void>;
}
