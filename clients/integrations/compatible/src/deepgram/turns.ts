import type { FinalEvent, TurnEagerEvent } from '@svc-asr/sdk/stream';
import {
  alternative,
  resultsMetadata,
  seconds,
  type ListenMessage,
  type Request,
  type Results,
} from './messages.ts';

/**
 * Turns the SDK's events into Deepgram's messages. Pure: a step takes a state and an input and returns the next state,
 * the messages to send and the work to do.
 */
export interface TurnOptions {
  readonly request: Request;
  readonly interimResults: boolean;
  readonly vadEvents: boolean;
  /** False: no message says that speech has ended. */
  readonly speechFinal: boolean;
  /** Null: no UtteranceEnd. */
  readonly utteranceEndMs: number | null;
}

export interface TurnState {
  /** Where the last final ended. Times never go back behind it. */
  readonly endMs: number;
  /** Speech or text was sent, and no message has said yet that it is over. */
  readonly isOpen: boolean;
  /** The service hears speech now. */
  readonly isSpeaking: boolean;
  /** End of the last word that no UtteranceEnd has followed yet. */
  readonly lastWordEndMs: number | null;
}

export type TurnInput =
  | {
      readonly type: 'speech_started';
      readonly audioMs: number;
      readonly confirmed?: boolean | undefined;
    }
  | { readonly type: 'speech_ended' }
  | { readonly type: 'delta'; readonly text: string; readonly audioMs: number }
  | {
      readonly type: 'final';
      readonly final: FinalEvent;
      /** How many `Finalize` messages this final answers. */
      readonly finalizes: number;
    }
  /** The last final of the stream, after CloseStream. It is sent even if it is empty. */
  | { readonly type: 'finished'; readonly atMs: number }
  | { readonly type: 'eager'; readonly eager: TurnEagerEvent }
  | { readonly type: 'resumed' }
  | { readonly type: 'final_late' }
  /** Nobody spoke between the last final and this time of the audio. */
  | { readonly type: 'quiet'; readonly atMs: number };

/** Work besides sending: a timer and flushes. A new timer replaces the old one. */
export type TurnWork =
  | { readonly do: 'expect_final' }
  | { readonly do: 'stop_expecting' }
  | { readonly do: 'flush' };

export interface TurnStep<State extends TurnState = TurnState> {
  readonly state: State;
  readonly send: readonly ListenMessage[];
  readonly work: readonly TurnWork[];
}

/** The rules of one API: `/v1/listen` or `/v2/listen`. */
export interface TurnRules<State extends TurnState> {
  readonly first: State;
  readonly next: (state: State, input: TurnInput) => TurnStep<State>;
}

/** Rules and the state that they are in. */
export interface Turns {
  readonly state: TurnState;
  next(input: TurnInput): Omit<TurnStep, 'state'>;
}

export function turnsBy<State extends TurnState>({ first, next }: TurnRules<State>): Turns {
  let state = first;
  return {
    get state() {
      return state;
    },
    next(input) {
      const step = next(state, input);
      ({ state } = step);
      return step;
    },
  };
}

export const FIRST_TURN: TurnState = {
  endMs: 0,
  isOpen: false,
  isSpeaking: false,
  lastWordEndMs: null,
};

export function nextTurn(options: TurnOptions, state: TurnState, input: TurnInput): TurnStep {
  switch (input.type) {
    case 'speech_started':
      return onSpeechStarted(options, state, input.audioMs);
    case 'speech_ended':
      return {
        state: { ...state, isSpeaking: false },
        send: [],
        // If nothing was recognised, no final comes unless it is asked for.
        work: state.isOpen ? [{ do: 'expect_final' }] : [],
      };
    case 'delta':
      return onDelta(options, state, input);
    case 'final':
      return onFinal(options, state, input);
    case 'finished': {
      const empty = results(options, state, { isFinal: true, endMs: input.atMs });
      const last = { ...empty, speech_final: options.speechFinal && state.isOpen };
      return { state: { ...state, isOpen: false }, send: [last], work: [] };
    }
    // Not asked for.
    case 'eager':
    case 'resumed':
      return { state, send: [], work: [] };
    case 'final_late':
      return onFinalLate(state);
    case 'quiet': {
      const ended = utteranceEnd(options, state, input.atMs);
      return {
        state: ended === null ? state : { ...state, lastWordEndMs: null },
        send: ended ?? [],
        work: [],
      };
    }
  }
}

export function onFinalLate<State extends TurnState>(state: State): TurnStep<State> {
  return { state, send: [], work: state.isOpen && !state.isSpeaking ? [{ do: 'flush' }] : [] };
}

function onSpeechStarted(options: TurnOptions, state: TurnState, audioMs: number): TurnStep {
  const timestamp = seconds(Math.max(audioMs, state.endMs));
  return {
    state: { ...state, isOpen: true, isSpeaking: true },
    send: options.vadEvents ? [{ type: 'SpeechStarted', channel: [0, 1], timestamp }] : [],
    work: [{ do: 'stop_expecting' }],
  };
}

function onDelta(
  options: TurnOptions,
  state: TurnState,
  { text, audioMs }: { readonly text: string; readonly audioMs: number },
): TurnStep {
  if (!options.interimResults || text === '') return { state, send: [], work: [] };
  const interim = results(options, state, { text, isFinal: false, endMs: state.endMs + audioMs });
  return { state: { ...state, isOpen: true }, send: [interim], work: [] };
}

function onFinal(
  options: TurnOptions,
  state: TurnState,
  input: Extract<TurnInput, { type: 'final' }>,
): TurnStep {
  const final = inOrder(input.final, state.endMs);
  const isTurnEnd = final.reason === 'endpoint' || final.reason === 'flush';
  const hasText = final.text !== '';
  const speechFinal = options.speechFinal && isTurnEnd && (state.isOpen || hasText);
  const fields = { isFinal: true, text: final.text, final };
  const [word] = final.words;
  const ended = word === undefined ? null : utteranceEnd(options, state, word.start_ms);
  const first: Results = {
    ...results(options, state, { ...fields, endMs: final.end_ms }),
    speech_final: speechFinal,
    from_finalize: input.finalizes > 0,
  };
  const next: TurnState = {
    ...state,
    endMs: final.end_ms,
    isOpen: isTurnEnd ? false : state.isOpen || hasText,
    lastWordEndMs: final.words.at(-1)?.end_ms ?? state.lastWordEndMs,
  };
  const isNeeded = hasText || speechFinal || input.finalizes > 0;
  const others = Array.from({ length: Math.max(0, input.finalizes - 1) }, () => ({
    ...results(options, next, { isFinal: true, endMs: next.endMs }),
    from_finalize: true,
  }));
  return {
    state: next,
    send: [...(ended ?? []), ...(isNeeded ? [first, ...others] : [])],
    work: isTurnEnd ? [{ do: 'stop_expecting' }] : [],
  };
}

/** Deepgram measures the gap after the last word in the audio, so a file that is sent at once has the same gaps as live speech. */
function utteranceEnd(
  { utteranceEndMs }: TurnOptions,
  { lastWordEndMs }: TurnState,
  silentUntilMs: number,
): ListenMessage[] | null {
  if (utteranceEndMs === null || lastWordEndMs === null) return null;
  if (silentUntilMs - lastWordEndMs < utteranceEndMs) return null;
  return [{ type: 'UtteranceEnd', channel: [0, 1], last_word_end: seconds(lastWordEndMs) }];
}

/** Moves a final that starts before the end of the last one, such as after a failover, behind it. */
export function inOrder(final: FinalEvent, endMs: number): FinalEvent {
  const start_ms = Math.max(endMs, final.start_ms);
  const last = Math.max(start_ms, final.end_ms);
  let wordMs = start_ms;
  const words = final.words.map((word) => {
    const wordStartMs = Math.min(last, Math.max(wordMs, word.start_ms));
    wordMs = Math.min(last, Math.max(wordStartMs, word.end_ms));
    return { ...word, start_ms: wordStartMs, end_ms: wordMs };
  });
  return { ...final, start_ms, end_ms: last, words };
}

function results(
  options: TurnOptions,
  state: TurnState,
  input: {
    readonly isFinal: boolean;
    readonly endMs: number;
    readonly text?: string;
    readonly final?: FinalEvent;
  },
): Results {
  // Silence that was not sent to the service belongs to the result after it, so that results have no gaps.
  const startMs = state.endMs;
  return {
    type: 'Results',
    channel_index: [0, 1],
    duration: seconds(Math.max(0, input.endMs - startMs)),
    start: seconds(startMs),
    is_final: input.isFinal,
    speech_final: false,
    from_finalize: false,
    channel: { alternatives: [alternative(input.text ?? '', input.final ?? null)] },
    metadata: resultsMetadata(options.request),
  };
}
