import type { StreamErrorCode } from '@svc-asr/protocol';
import { endSpeech } from './endpointing.ts';
import { EMPTY_RESULT, finalEvent, holdsWords, type FinalMarker } from './final-event.ts';
import {
  complete,
  fail,
  andThen,
  type Action,
  type FinishReason,
  type Offence,
  type Step,
  type StreamState,
} from './stream-state.ts';

/** Ends a stream. Every ending that charges for audio waits for the last finals first. */

/**
 * How long the engine may be silent before the last final counts as lost, which is our fault and free.
 * It doesn't limit the whole wait: many finals requested at once on a busy node must still be charged.
 */
const ENGINE_SILENCE_MAX_MS = 30_000;
/**
 * A close by the client, an offence and a suspension wait this long for the last finals. With the 250 ms between two
 * ticks it is two seconds. Audio whose final is later than that is not charged.
 */
const LAST_FINALS_MAX_MS = 1_750;

const OFFENCES: ReadonlySet<string> = new Set<Offence>([
  'protocol_error',
  'invalid_utf8',
  'too_many_errors',
  'too_many_messages',
  'message_too_large',
  'slow_reader',
  'account_inactive',
  'session_ended',
]);

function isOffence(code: string): code is Offence {
  return OFFENCES.has(code);
}

/** Ends the stream with an error: at once if the failure is ours, after the last finals if it is the client's. */
export function endWith(state: StreamState, input: { code: StreamErrorCode; nowMs: number }): Step {
  const { code, nowMs } = input;
  return isOffence(code) ? offend(state, { code, nowMs }) : fail(state, code);
}

/** Stops reading and ends the stream after the finals of the audio before the offence. */
export function offend(state: StreamState, input: { code: Offence; nowMs: number }): Step {
  const { code, nowMs } = input;
  switch (state.phase) {
    case 'closed':
      return [state, []];
    case 'starting':
      return fail(state, code);
    case 'streaming':
      return andThen([state, [{ do: 'stop_reading' }]], (now) =>
        finish(now, { because: code, nowMs }),
      );
    case 'finishing':
      // A stream that ends soon or free keeps its reason.
      if (state.finish === 'draining' || isBounded(state.finish)) return [state, []];
      return [{ ...state, finish: code, finishingSinceMs: nowMs }, [{ do: 'stop_reading' }]];
  }
}

/** The client's close frame arrives while the last finals are awaited. */
export function closeWhileFinishing(state: StreamState, nowMs: number): Step {
  if (state.finish === 'draining' || isBounded(state.finish)) return [state, []];
  return [{ ...state, finish: 'closing', finishingSinceMs: nowMs }, []];
}

/** Requests the final of the audio that has none, and ends the stream after it. */
export function finish(state: StreamState, input: { because: FinishReason; nowMs: number }): Step {
  const { because, nowMs } = input;
  const marker: FinalMarker = {
    ask: 'final',
    utterance: state.utterance,
    reason: finalReason(because),
    id: undefined,
    startSample: state.utteranceStartSample,
    originSample: state.utteranceOriginSample,
    endSample: state.meter.acceptedSamples,
  };
  const [quiet, announced] = endSpeech(state);
  const next: StreamState = {
    ...quiet,
    phase: 'finishing',
    finish: because,
    finishingSinceMs: nowMs,
    engineEventAtMs: nowMs,
  };
  const isAlwaysSent = because === 'max_audio_reached' || because === 'draining';
  if (isAlwaysSent || holdsWords(marker)) {
    return [{ ...next, markers: [...state.markers, marker] }, [...announced, { do: 'flush' }]];
  }
  if (marker.endSample === marker.startSample) return concludeIfAnswered(next, announced);
  const event = finalEvent(next, marker, EMPTY_RESULT);
  return state.markers.length > 0
    ? [{ ...next, markers: [...state.markers, { ask: 'event', event }] }, announced]
    : concludeIfAnswered(next, [...announced, { do: 'send', event }]);
}

function finalReason(because: FinishReason): FinalMarker['reason'] {
  if (because === 'slot_reclaimed') return 'idle_timeout';
  return isOffence(because) ? 'closing' : because;
}

function concludeIfAnswered(state: StreamState, actions: readonly Action[]): Step {
  return state.markers.length > 0 ? [state, actions] : andThen([state, actions], conclude);
}

/** Ends a stream whose last final was sent. */
export function conclude(state: StreamState, samples = state.meter.acceptedSamples): Step {
  const { finish: because } = state;
  if (because === null) return [state, []];
  if (because === 'max_audio_reached') return complete(state, 'max_audio_reached', samples);
  if (because === 'closing') return complete(state, 'completed', samples);
  if (because === 'draining') return fail(state, 'service_restart');
  return fail(state, because, samples);
}

export function onFinishingTick(state: StreamState, nowMs: number): Step {
  const waitedMs = nowMs - state.finishingSinceMs;
  if (isBounded(state.finish) && waitedMs >= LAST_FINALS_MAX_MS) return concludeLate(state);
  const silentMs = nowMs - state.engineEventAtMs;
  return silentMs >= ENGINE_SILENCE_MAX_MS ? fail(state, 'internal_error') : [state, []];
}

function isBounded(because: FinishReason | null): boolean {
  return because === 'closing' || (because !== null && isOffence(because));
}

/** Ends a stream whose last finals are late. Waiting replies are sent; audio without its final is not charged. */
function concludeLate(state: StreamState): Step {
  const replies = state.markers.flatMap((marker): Action[] =>
    marker.ask === 'event' && marker.event.type !== 'final'
      ? [{ do: 'send', event: marker.event }]
      : [],
  );
  const unanswered = state.markers.find((marker) => marker.ask === 'final');
  const samples = unanswered?.startSample ?? state.meter.acceptedSamples;
  return andThen([{ ...state, markers: [] }, replies], (now) => conclude(now, samples));
}
