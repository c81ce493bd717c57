import type { FinalEvent } from '@svc-asr/sdk/stream';
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
  | { readonly type: 'speech_started'; readonly audioMs: number }
  | { readonly type: 'speech_ended' }
  | { readonly type: 'delta'; readonly text: string; readonly audioMs: number }
  | {
      readonly type: 'final';
      readonly final: FinalEvent;
      /** How many `Finalize` messages this final answers. */
      readonly finalizes: number;
      /** How much audio the client has sent. */
      readonly receivedMs: number;
    }
  /** The last final of the stream, after CloseStream. It is sent even if it is empty. */
  | { readonly type: 'finished'; readonly atMs: number }
  | { readonly type: 'final_late' }
  | { readonly type: 'utterance_end_due' };

/** Work besides sending: timers and flushes. A new timer replaces the old one of its kind. */
export type TurnWork =
  | { readonly do: 'expect_final' }
  | { readonly do: 'stop_expecting' }
  | { readonly do: 'flush' }
  | { readonly do: 'time_utterance_end'; readonly ms: number }
  | { readonly do: 'stop_utterance_end' };

export interface TurnStep {
  readonly state: TurnState;
  readonly send: readonly ListenMessage[];
  readonly work: readonly TurnWork[];
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
    case 'final_late':
      return { state, send: [], work: state.isOpen && !state.isSpeaking ? [{ do: 'flush' }] : [] };
    case 'utterance_end_due':
      return onUtteranceEnd(state);
  }
}

function onSpeechStarted(options: TurnOptions, state: TurnState, audioMs: number): TurnStep {
  const timestamp = seconds(Math.max(audioMs, state.endMs));
  return {
    state: { ...state, isOpen: true, isSpeaking: true },
    send: options.vadEvents ? [{ type: 'SpeechStarted', channel: [0], timestamp }] : [],
    work: [{ do: 'stop_expecting' }, { do: 'stop_utterance_end' }],
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
  const fields = { isFinal: true, text: final.text, final, startMs: final.start_ms };
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
    send: isNeeded ? [first, ...others] : [],
    work: [
      ...(isTurnEnd ? [{ do: 'stop_expecting' as const }] : []),
      ...utteranceEndWork(options, next, input.receivedMs),
    ],
  };
}

function utteranceEndWork(
  options: TurnOptions,
  { lastWordEndMs, isSpeaking }: TurnState,
  receivedMs: number,
): TurnWork[] {
  if (options.utteranceEndMs === null || lastWordEndMs === null || isSpeaking) return [];
  const silentMs = receivedMs - lastWordEndMs;
  return [{ do: 'time_utterance_end', ms: Math.max(0, options.utteranceEndMs - silentMs) }];
}

function onUtteranceEnd(state: TurnState): TurnStep {
  if (state.isSpeaking || state.lastWordEndMs === null) return { state, send: [], work: [] };
  const last_word_end = seconds(state.lastWordEndMs);
  return {
    state: { ...state, lastWordEndMs: null },
    send: [{ type: 'UtteranceEnd', channel: [0, 1], last_word_end }],
    work: [],
  };
}

/** Moves a final that starts before the end of the last one, such as after a failover, behind it. */
function inOrder(final: FinalEvent, endMs: number): FinalEvent {
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
    readonly startMs?: number;
    readonly text?: string;
    readonly final?: FinalEvent;
  },
): Results {
  const startMs = Math.max(state.endMs, input.startMs ?? state.endMs);
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
