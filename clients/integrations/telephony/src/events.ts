/** A word with its place in the leg's audio. */
export interface CallWord {
  readonly text: string;
  readonly start_ms: number;
  readonly end_ms: number;
  readonly confidence: number | null;
}

/** Recognised speech. Times in ms count from the start of the leg; `_time` is the wall clock in ISO 8601. */
export interface CallTurn {
  readonly text: string;
  readonly start_ms: number;
  readonly end_ms: number;
  readonly start_time: string;
  readonly end_time: string;
  /** Confidence from 0 to 1. Null if the model provides none. */
  readonly confidence: number | null;
}

interface CallStart {
  readonly protocol: string;
  /** The language that recognises the call: `ki` or `luo`. */
  readonly language: string;
  /** Custom parameters of the telephone system, or other fields of a recording's callback. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** What both reports at the end have. */
interface Report {
  readonly call: string;
  readonly time: string;
  /** True if it had more than 10,000 turns. The rest of a call is only in `final` events. */
  readonly truncated: boolean;
}

/** Events of one leg. `time` is when the bridge emitted it. */
export type LegEvent = { readonly call: string; readonly leg: string; readonly time: string } & (
  | ({ readonly type: 'started' } & CallStart)
  | { readonly type: 'interim'; readonly text: string }
  | ({ readonly type: 'final'; readonly words: readonly CallWord[] } & CallTurn)
  | { readonly type: 'dtmf'; readonly digit: string; readonly at_ms: number }
  | { readonly type: 'warning'; readonly code: string; readonly message: string }
  | { readonly type: 'ended'; readonly reason: string; readonly audio_ms: number }
);

/** The whole call, after all of its legs have ended. */
export interface CallSummary extends CallStart, Report {
  readonly type: 'call_ended';
  readonly started_time: string;
  readonly legs: readonly {
    readonly leg: string;
    readonly reason: string;
    readonly audio_ms: number;
  }[];
  /** In the order in which they were spoken. */
  readonly turns: readonly ({ readonly leg: string } & CallTurn)[];
}

/** Recognised speech of a recording. Times in ms count from its start. */
export type RecordedTurn = Omit<CallTurn, 'start_time' | 'end_time'> & {
  readonly words: readonly CallWord[];
};

/** A recording that was announced to `/recordings`, after it has been transcribed, or could not be. */
export interface RecordingTranscript extends Omit<CallStart, 'protocol'>, Report {
  readonly type: 'recording';
  /** `completed`, or why it ended early. */
  readonly reason: string;
  /** How much of it was sent to the service. */
  readonly audio_ms: number;
  readonly turns: readonly RecordedTurn[];
}

/** Events that the bridge emits. */
export type CallEvent = LegEvent | CallSummary | RecordingTranscript;

/** A message for the operator. It never contains text of a call. */
export interface Notice {
  readonly level: 'warning' | 'error';
  readonly code: string;
  readonly message: string;
  readonly call?: string;
  readonly leg?: string;
}
