import type { ServerEvent, StreamErrorCode } from '@svc-asr/protocol';
import { endSpeech } from './endpointing.ts';
import { costOf, EMPTY_RESULT, finalEvent, holdsWords } from './final-event.ts';
import { audioMs, type Meter } from './metering.ts';
import {
  andThen,
  close,
  closeWithError,
  markUtterance,
  type Action,
  type FinalMarker,
  type Finishing,
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
/** The same after the client's close: with the 250 ms between two ticks it is 15 seconds. */
const CLOSING_SILENCE_MAX_MS = 14_750;
/**
 * An offence and a suspension wait this long for the last finals. With the 250 ms between two ticks it is two seconds.
 * Audio whose final is later than that is not charged.
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
  return isOffence(code) ? offend(state, { code, nowMs }) : closeWithError(state, code);
}

/** Stops reading and ends the stream after the finals of the audio before the offence. */
export function offend(state: StreamState, input: { code: Offence; nowMs: number }): Step {
  const { code, nowMs } = input;
  switch (state.phase) {
    case 'closed':
      return [state, []];
    case 'starting':
      return closeWithError(state, code);
    case 'streaming':
      return andThen([state, [{ do: 'stop_reading' }]], (next) =>
        finish(next, { because: code, nowMs }),
      );
    case 'finishing':
      if (keepsReason(state)) return [state, []];
      return [{ ...state, because: code, sinceMs: nowMs }, [{ do: 'stop_reading' }]];
  }
}

/** The client's close frame arrives while the last finals are awaited. */
export function closeWhileFinishing(state: Finishing, nowMs: number): Step {
  return keepsReason(state) ? [state, []] : [{ ...state, because: 'closing', sinceMs: nowMs }, []];
}

/** A stream that its client has closed, or that ends soon or free. */
function keepsReason({ because }: Finishing): boolean {
  return because === 'draining' || because === 'closing' || isOffence(because);
}

/** Requests the final of the audio that has none, and ends the stream after it. */
export function finish(state: StreamState, input: { because: FinishReason; nowMs: number }): Step {
  const { because, nowMs } = input;
  const marker = markUtterance(state, { reason: finalReason(because) });
  const [quiet, announced] = endSpeech(state);
  const next: Finishing = {
    ...quiet,
    phase: 'finishing',
    because,
    sinceMs: nowMs,
    engineEventAtMs: nowMs,
  };
  if (because === 'max_audio_reached' || holdsWords(marker)) {
    return [{ ...next, markers: [...state.markers, marker] }, [...announced, { do: 'flush' }]];
  }
  if (marker.endSample === marker.startSample) return closeIfAnswered(next, announced);
  const event = finalEvent(next, marker, EMPTY_RESULT);
  return state.markers.length > 0
    ? [{ ...next, markers: [...state.markers, { ask: 'event', event }] }, announced]
    : closeIfAnswered(next, [...announced, { do: 'send', event }]);
}

function finalReason(because: FinishReason): FinalMarker['reason'] {
  if (because === 'slot_reclaimed') return 'idle_timeout';
  return isOffence(because) ? 'closing' : because;
}

/** Closes a finishing stream as soon as no answer is outstanding. */
export function closeIfAnswered(state: StreamState, actions: readonly Action[]): Step {
  if (state.phase !== 'finishing' || state.markers.length > 0) return [state, actions];
  return andThen([state, actions], () => closeFinished(state));
}

function closeFinished(state: Finishing, samples = state.meter.acceptedSamples): Step {
  const { because } = state;
  if (because === 'max_audio_reached') return close(state, 'max_audio_reached', samples);
  if (because === 'closing') return close(state, 'completed', samples);
  if (because === 'draining') return closeWithError(state, 'service_restart');
  return closeWithError(state, because, samples);
}

export function onFinishingTick(state: Finishing, nowMs: number): Step {
  const { because, sinceMs, engineEventAtMs } = state;
  if (isOffence(because) && nowMs - sinceMs >= LAST_FINALS_MAX_MS) return closeLate(state);
  const silentMs = nowMs - Math.max(sinceMs, engineEventAtMs);
  const silentMsMax = because === 'closing' ? CLOSING_SILENCE_MAX_MS : ENGINE_SILENCE_MAX_MS;
  return silentMs >= silentMsMax ? closeWithError(state, 'internal_error') : [state, []];
}

/**
 * Closes a stream whose last finals are late. Waiting replies are sent. Audio without its final is not charged, and neither
 * is audio that was dropped after it.
 */
function closeLate(state: Finishing): Step {
  const unanswered = state.markers.find((marker) => marker.ask === 'final');
  const samples = unanswered?.startSample ?? state.meter.acceptedSamples;
  const replies = state.markers.flatMap((marker): Action[] =>
    marker.ask === 'event' && marker.event.type !== 'final'
      ? [{ do: 'send', event: withoutUncharged(marker.event, { meter: state.meter, samples }) }]
      : [],
  );
  return andThen([state, replies], () => closeFinished({ ...state, markers: [] }, samples));
}

/** A reply to a reset counts only audio that is charged. */
function withoutUncharged(
  event: ServerEvent,
  { meter, samples }: { readonly meter: Meter; readonly samples: number },
): ServerEvent {
  if (event.type !== 'reset_ack') return event;
  const cost = costOf(meter, samples);
  return { ...event, discarded_ms: 0, total_audio_ms: audioMs(samples), ...cost };
}
