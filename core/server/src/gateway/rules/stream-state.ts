import {
  LIMITS,
  STREAM_ERRORS,
  type FinalReason,
  type ModelId,
  type ServerEvent,
  type StreamErrorCode,
} from '@svc-asr/protocol';
import type { LostSession } from '@svc-asr/protocol/lost-host.ts';
import type { MessageId, TextMessage } from './pcm-frames.ts';
import type { FlushMoment } from './flush-rate.ts';
import { createMeter, type Meter } from './metering.ts';
import type { Eager, Turns } from './turns.ts';

export interface StreamSession {
  readonly sessionId: string;
  readonly requestId: string;
  readonly model: ModelId;
  readonly reservedMs: number;
}

export interface StreamLimits {
  readonly idleTimeoutMs: number;
  readonly sessionWallClockMs: number;
  readonly initializationMs: number;
}

/** How a stream ends: the ledger's outcome and the close frame. */
export interface Ending {
  readonly status: 'completed' | 'failed';
  readonly closeCode: number;
  readonly reason: string;
}

/** A request whose response must stay in order with the finals. */
type Marker = FinalMarker | { readonly ask: 'event'; readonly event: ServerEvent };

export interface FinalMarker {
  readonly ask: 'final';
  readonly utterance: number;
  readonly reason: FinalReason;
  readonly id: MessageId | undefined;
  readonly startSample: number;
  /** Where the engine's utterance starts: later than startSample when an empty one was joined to it. */
  readonly originSample: number;
  readonly endSample: number;
  /** Whether the final has numbers as digits. */
  readonly numbers: boolean;
  /** The `turn_eager` that it resolves. */
  readonly eager: Eager | null;
}

/** What is true of a stream in every phase. */
interface StreamFacts {
  readonly session: StreamSession;
  readonly limits: StreamLimits;
  readonly meter: Meter;
  /** The utterance being spoken; every flush and every reset begins the next. */
  readonly utterance: number;
  readonly utteranceStartSample: number;
  /** Where the engine's utterance starts. Word times count from here. */
  readonly utteranceOriginSample: number;
  /** Whether the model can listen for keyterms. */
  readonly takesKeyterms: boolean;
  /** Whether the client named lost sessions. It can do so once, because each time costs queries. */
  readonly namedLost: boolean;
  /** Whether finals have numbers as digits. */
  readonly numbers: boolean;
  /** Whether a second detector can confirm speech. */
  readonly canConfirm: boolean;
  /** Whether the engine can say what it heard so far. */
  readonly canPeek: boolean;
  /** Null unless the client enabled endpointing. */
  readonly turns: Turns | null;
  readonly markers: readonly Marker[];
  readonly nonFatalErrors: number;
  /** The flushes of the last second that count against their rate. */
  readonly recentFlushes: readonly FlushMoment[];
  /** Text messages, pings, pongs and tiny frames that are still allowed at once, as of `allowanceAtMs`. */
  readonly allowance: number;
  readonly allowanceAtMs: number;
  /** Each of them is sent once. */
  readonly warned: ReadonlySet<Warning>;
  readonly openedAtMs: number;
  readonly lastAudioAtMs: number;
}

type Warning =
  | 'loading'
  | 'queued'
  | 'odd_byte'
  | 'command_as_audio'
  | 'audio_limit'
  | 'time_limit';

/** Waits for the engine. */
export interface Starting extends StreamFacts {
  readonly phase: 'starting';
  /** Messages received before `ready`. They are answered after it, because only status may be sent before. */
  readonly heldMessages: readonly TextMessage[];
  readonly droppedEarlyAudio: boolean;
}

export interface Streaming extends StreamFacts {
  readonly phase: 'streaming';
}

/** Waits for the last finals. */
export interface Finishing extends StreamFacts {
  readonly phase: 'finishing';
  readonly because: FinishReason;
  readonly sinceMs: number;
  /** When the last engine event arrived. */
  readonly engineEventAtMs: number;
}

interface Closed extends StreamFacts {
  readonly phase: 'closed';
}

export type StreamState = Starting | Streaming | Finishing | Closed;

/** What a client does wrong, a suspended account, or an operator's order. The audio before it is charged. */
export type Offence =
  | 'protocol_error'
  | 'invalid_utf8'
  | 'too_many_errors'
  | 'too_many_messages'
  | 'message_too_large'
  | 'slow_reader'
  | 'account_inactive'
  | 'session_ended';

/** Why the last final was requested. Every ending that charges for audio requests it. */
export type FinishReason = Exclude<FinalReason, 'flush' | 'endpoint'> | 'slot_reclaimed' | Offence;

export type Action =
  | { readonly do: 'send'; readonly event: ServerEvent }
  | { readonly do: 'feed'; readonly pcm: Uint8Array }
  | { readonly do: 'flush' }
  | { readonly do: 'reset' }
  | { readonly do: 'peek'; readonly number: number }
  | { readonly do: 'expect'; readonly keyterms: readonly string[] }
  /** The client sends audio again that these sessions may be charged for. */
  | { readonly do: 'continue'; readonly lost: readonly LostSession[] }
  /** Nothing that the client sends matters any more. */
  | { readonly do: 'stop_reading' }
  /** `samples` are charged, if the stream completed. */
  | { readonly do: 'close'; readonly ending: Ending; readonly samples: number };

export type Step = readonly [StreamState, readonly Action[]];

const OUR_FAULTS: ReadonlySet<StreamErrorCode> = new Set([
  'internal_error',
  'service_restart',
  'initialization_timeout',
]);

export function startStream(input: {
  session: StreamSession;
  nowMs: number;
  limits?: StreamLimits;
}): Starting {
  return {
    session: input.session,
    limits: input.limits ?? LIMITS,
    phase: 'starting',
    meter: createMeter(input.session.reservedMs),
    utterance: 0,
    utteranceStartSample: 0,
    utteranceOriginSample: 0,
    takesKeyterms: false,
    namedLost: false,
    numbers: false,
    canConfirm: false,
    canPeek: false,
    turns: null,
    markers: [],
    heldMessages: [],
    droppedEarlyAudio: false,
    nonFatalErrors: 0,
    recentFlushes: [],
    allowance: LIMITS.textMessagesBurst,
    allowanceAtMs: input.nowMs,
    warned: new Set(),
    openedAtMs: input.nowMs,
    lastAudioAtMs: input.nowMs,
  };
}

/** Closes the stream with an error event, then the close frame. Charges `samples`, unless the failure is ours. */
export function closeWithError(
  state: StreamState,
  code: StreamErrorCode,
  samples = state.meter.acceptedSamples,
): Step {
  if (state.phase === 'closed') return [state, []];
  const entry: { message: string; close?: number } = STREAM_ERRORS[code];
  const ending: Ending = {
    status: OUR_FAULTS.has(code) ? 'failed' : 'completed',
    closeCode: entry.close ?? 1011,
    reason: code,
  };
  const error: Action = { do: 'send', event: errorEvent(state.session, code) };
  return [{ ...state, phase: 'closed' }, [error, { do: 'close', ending, samples }]];
}

export function close(
  state: StreamState,
  reason: 'completed' | 'max_audio_reached',
  samples = state.meter.acceptedSamples,
): Step {
  if (state.phase === 'closed') return [state, []];
  const ending: Ending = { status: 'completed', closeCode: 1000, reason };
  return [{ ...state, phase: 'closed' }, [{ do: 'close', ending, samples }]];
}

/** The utterance so far, as its final will describe it. */
export function markUtterance(
  state: StreamState,
  input: { reason: FinalReason; id?: MessageId | undefined; endSample?: number },
): FinalMarker {
  return {
    ask: 'final',
    utterance: state.utterance,
    reason: input.reason,
    id: input.id,
    startSample: state.utteranceStartSample,
    originSample: state.utteranceOriginSample,
    endSample: input.endSample ?? state.meter.acceptedSamples,
    numbers: state.numbers,
    eager: state.turns?.eager ?? null,
  };
}

export function beginUtterance<State extends StreamState>(
  state: State,
  startSample: number,
): State {
  return {
    ...state,
    utterance: state.utterance + 1,
    utteranceStartSample: startSample,
    utteranceOriginSample: startSample,
  };
}

/** Sends a warning that the stream has not been given yet. */
export function warnOnce(state: StreamState, warning: Warning, event: ServerEvent): Step {
  if (state.warned.has(warning)) return [state, []];
  const warned = new Set([...state.warned, warning]);
  return [{ ...state, warned }, [{ do: 'send', event }]];
}

/** Applies the next rule to the state that a step left, and joins their actions. */
export function andThen(step: Step, next: (state: StreamState) => Step): Step {
  const [state, actions] = next(step[0]);
  return [state, [...step[1], ...actions]];
}

export function errorEvent(
  session: StreamSession,
  code: StreamErrorCode,
  message: {
    readonly id?: MessageId | undefined;
    readonly ignored?: readonly string[] | undefined;
  } = {},
): ServerEvent {
  const { id, ignored } = message;
  const entry: { message: string; close?: number; retryable?: boolean } = STREAM_ERRORS[code];
  return {
    type: 'error',
    message: entry.message,
    code,
    fatal: entry.close !== undefined,
    retryable: entry.retryable ?? false,
    ...(entry.close === undefined ? {} : { close_code: entry.close }),
    ...(id === undefined ? {} : { id }),
    ...(ignored === undefined ? {} : { ignored: [...ignored] }),
    session_id: session.sessionId,
    request_id: session.requestId,
  };
}
