import {
  LIMITS,
  STREAM_ERRORS,
  type FinalReason,
  type ModelId,
  type ServerEvent,
  type StreamErrorCode,
} from '@svc-asr/protocol';
import type { TextMessage } from './frames.ts';
import { createMeter, type Meter } from './metering.ts';
import { UNSUSPECTING, type Suspicion } from './suspicion.ts';

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

/** `starting` waits for the engine, `finishing` for the last final; nothing leaves `closed`. */
export type StreamPhase = 'starting' | 'streaming' | 'finishing' | 'closed';

/** How a stream ends: what the ledger is told and what the close frame says. */
export interface Ending {
  readonly status: 'completed' | 'failed';
  readonly closeCode: number;
  readonly reason: string;
}

/** Something the client asked for whose answer must keep its place among the finals. */
export type Marker =
  | {
      readonly ask: 'final';
      readonly utterance: number;
      readonly reason: FinalReason;
      readonly id: string | undefined;
      readonly startSample: number;
      readonly endSample: number;
    }
  | { readonly ask: 'event'; readonly event: ServerEvent };

export interface StreamState {
  readonly session: StreamSession;
  readonly limits: StreamLimits;
  readonly phase: StreamPhase;
  readonly meter: Meter;
  /** The utterance being spoken; every flush and every reset begins the next. */
  readonly utterance: number;
  readonly utteranceStartSample: number;
  readonly markers: readonly Marker[];
  /** Messages that came before `ready`: nothing but status may be sent before it, so they are answered after. */
  readonly heldMessages: readonly TextMessage[];
  readonly droppedEarlyAudio: boolean;
  readonly nonFatalErrors: number;
  readonly recentFlushesMs: readonly number[];
  readonly recentMessagesMs: readonly number[];
  readonly saidWaiting: 'loading' | 'queued' | null;
  readonly saidOddByte: boolean;
  readonly saidLimitWarning: boolean;
  readonly suspicion: Suspicion | null;
  readonly openedAtMs: number;
  readonly lastAudioAtMs: number;
  readonly finishingSinceMs: number;
  /** What follows the last final, once `finishing`. */
  readonly finish: FinishReason | null;
}

export type FinishReason = 'max_audio_reached' | 'draining';

export type Action =
  | { readonly do: 'send'; readonly event: ServerEvent }
  | { readonly do: 'recognize'; readonly pcm: Uint8Array }
  | { readonly do: 'flush' }
  | { readonly do: 'reset' }
  | { readonly do: 'end'; readonly ending: Ending };

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
}): StreamState {
  return {
    session: input.session,
    limits: input.limits ?? LIMITS,
    phase: 'starting',
    meter: createMeter(input.session.reservedMs),
    utterance: 0,
    utteranceStartSample: 0,
    markers: [],
    heldMessages: [],
    droppedEarlyAudio: false,
    nonFatalErrors: 0,
    recentFlushesMs: [],
    recentMessagesMs: [],
    saidWaiting: null,
    saidOddByte: false,
    saidLimitWarning: false,
    suspicion: UNSUSPECTING,
    openedAtMs: input.nowMs,
    lastAudioAtMs: input.nowMs,
    finishingSinceMs: 0,
    finish: null,
  };
}

/** Ends the stream for a reason that is wrong with someone: the error event says so before the close does. */
export function fail(state: StreamState, code: StreamErrorCode): Step {
  if (state.phase === 'closed') return [state, []];
  const entry: { message: string; close?: number } = STREAM_ERRORS[code];
  const ending: Ending = {
    status: OUR_FAULTS.has(code) ? 'failed' : 'completed',
    closeCode: entry.close ?? 1011,
    reason: code,
  };
  const said: Action = { do: 'send', event: errorEvent(state.session, code) };
  return [{ ...state, phase: 'closed' }, [said, { do: 'end', ending }]];
}

export function complete(state: StreamState, reason: 'completed' | 'max_audio_reached'): Step {
  if (state.phase === 'closed') return [state, []];
  const ending: Ending = { status: 'completed', closeCode: 1000, reason };
  return [{ ...state, phase: 'closed' }, [{ do: 'end', ending }]];
}

/** Says what was wrong and goes on, ten times; the eleventh ends the stream. */
export function complain(state: StreamState, code: StreamErrorCode): Step {
  if (state.nonFatalErrors >= LIMITS.nonFatalErrors) return fail(state, 'too_many_errors');
  const event = errorEvent(state.session, code);
  return [{ ...state, nonFatalErrors: state.nonFatalErrors + 1 }, [{ do: 'send', event }]];
}

function errorEvent(session: StreamSession, code: StreamErrorCode): ServerEvent {
  const entry: { message: string; close?: number; retryable?: boolean } = STREAM_ERRORS[code];
  return {
    type: 'error',
    message: entry.message,
    code,
    fatal: entry.close !== undefined,
    retryable: entry.retryable ?? false,
    ...(entry.close === undefined ? {} : { close_code: entry.close }),
    session_id: session.sessionId,
    request_id: session.requestId,
  };
}
