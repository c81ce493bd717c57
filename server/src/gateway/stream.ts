import { AUDIO, CONTEXT_SIZE, LIMITS, MODELS, type ServerEvent } from '@svc-asr/protocol';
import type { EngineEvent } from '@svc-asr/engine';
import { onMessage } from './stream-messages.ts';
import { acceptAudio, audioMs, billableMs, isFull, momentMs, remainingMs } from './metering.ts';
import {
  complain,
  complete,
  fail,
  type Action,
  type FinishReason,
  type Marker,
  type Step,
  type StreamState,
} from './stream-state.ts';
import { examine } from './suspicion.ts';

/** The rules of one stream, without a socket, an engine or a clock: each takes a state and gives the next. */

/** Longer than the engine needs for all audio it may hold, so only a lost final meets it. */
const FINISHING_MAX_MS = 30_000;

export function onReady(state: StreamState, input: { chunkSamples: number; nowMs: number }): Step {
  if (state.phase !== 'starting') return [state, []];
  let step: Step = [
    { ...state, phase: 'streaming', lastAudioAtMs: input.nowMs, heldMessages: [] },
    [{ do: 'send', event: readyEvent(state, input.chunkSamples) }],
  ];
  if (state.droppedEarlyAudio) step = then(step, (now) => complain(now, 'audio_before_ready'));
  for (const message of state.heldMessages) {
    step = then(step, (now) => onMessage(now, { message, nowMs: input.nowMs }));
  }
  return step;
}

/** Said once for each reason, while the engine is not there yet. */
export function onWaiting(state: StreamState, code: 'loading' | 'queued'): Step {
  if (state.phase !== 'starting' || state.saidWaiting === code) return [state, []];
  const message =
    code === 'loading' ? 'The recogniser is starting.' : 'Waiting for a recogniser to become free.';
  const event: ServerEvent = { type: 'status', message, code };
  return [{ ...state, saidWaiting: code }, [{ do: 'send', event }]];
}

export function onAudio(state: StreamState, input: { frame: Uint8Array; nowMs: number }): Step {
  switch (state.phase) {
    case 'starting':
      return [state.droppedEarlyAudio ? state : { ...state, droppedEarlyAudio: true }, []];
    case 'finishing':
    case 'closed':
      return [state, []];
    case 'streaming': {
      const { meter, pcm } = acceptAudio(state.meter, input.frame);
      const heard = pcm.byteLength > 0;
      const next = { ...state, meter, lastAudioAtMs: heard ? input.nowMs : state.lastAudioAtMs };
      const step: Step = [next, heard ? [{ do: 'recognize', pcm }] : []];
      if (isOrdinary(next)) return step;
      return then(
        then(step, (now) => warn(now, pcm)),
        (now) =>
          isFull(now.meter)
            ? finish(now, { because: 'max_audio_reached', nowMs: input.nowMs })
            : [now, []],
      );
    }
  }
}

export function onEngineEvent(state: StreamState, event: EngineEvent): Step {
  if (state.phase === 'closed') return [state, []];
  switch (event.type) {
    case 'delta':
      return isDropped(state, event.utterance)
        ? [state, []]
        : [state, [{ do: 'send', event: deltaEvent(event) }]];
    case 'final':
      return answerFinal(state, event);
    case 'error':
      return fail(state, 'internal_error');
  }
}

/** Called every now and then. `reading` is false while we ourselves hold the client back. */
export function onTick(state: StreamState, input: { nowMs: number; reading: boolean }): Step {
  const { limits } = state;
  switch (state.phase) {
    case 'closed':
      return [state, []];
    case 'starting':
      return input.nowMs - state.openedAtMs >= limits.initializationMs
        ? fail(state, 'initialization_timeout')
        : [state, []];
    case 'streaming':
      if (input.nowMs - state.openedAtMs >= limits.sessionWallClockMs) {
        return fail(state, 'session_time_limit');
      }
      return input.reading && input.nowMs - state.lastAudioAtMs >= limits.idleTimeoutMs
        ? fail(state, 'idle_timeout')
        : [state, []];
    case 'finishing':
      return input.nowMs - state.finishingSinceMs >= FINISHING_MAX_MS
        ? fail(state, 'internal_error')
        : [state, []];
  }
}

export function onClientGone(state: StreamState): Step {
  return complete(state, 'completed');
}

export function onDrain(state: StreamState, deadlineMs: number): Step {
  if (state.phase === 'closed') return [state, []];
  const message = 'This server is restarting. Streams may finish until the deadline.';
  const event: ServerEvent = { type: 'status', message, code: 'draining', deadline_ms: deadlineMs };
  return [state, [{ do: 'send', event }]];
}

/** The deadline of a drain: what was said so far still gets its final, then the stream ends unbilled. */
export function onDrainDeadline(state: StreamState, nowMs: number): Step {
  switch (state.phase) {
    case 'closed':
    case 'finishing':
      return [state, []];
    case 'starting':
      return fail(state, 'service_restart');
    case 'streaming':
      return finish(state, { because: 'draining', nowMs });
  }
}

function finish(state: StreamState, input: { because: FinishReason; nowMs: number }): Step {
  const marker: Marker = {
    ask: 'final',
    utterance: state.utterance,
    reason: input.because,
    id: undefined,
    startSample: state.utteranceStartSample,
    endSample: state.meter.acceptedSamples,
  };
  const next: StreamState = {
    ...state,
    phase: 'finishing',
    finish: input.because,
    finishingSinceMs: input.nowMs,
    markers: [...state.markers, marker],
  };
  return [next, [{ do: 'flush' }]];
}

/** A final answers the oldest flush; events that waited behind it go out with it. */
function answerFinal(state: StreamState, event: EngineEvent & { type: 'final' }): Step {
  const [marker, ...rest] = state.markers;
  if (marker?.ask !== 'final' || marker.utterance !== event.utterance) {
    return fail(state, 'internal_error');
  }
  const actions: Action[] = [{ do: 'send', event: finalEvent(state, marker, event) }];
  let unanswered = rest;
  while (unanswered[0]?.ask === 'event') {
    actions.push({ do: 'send', event: unanswered[0].event });
    unanswered = unanswered.slice(1);
  }
  const step: Step = [{ ...state, markers: unanswered }, actions];
  if (unanswered.length > 0 || state.finish === null) return step;
  return then(step, (now) =>
    state.finish === 'draining' ? fail(now, 'service_restart') : complete(now, 'max_audio_reached'),
  );
}

/** True for nearly every frame: nothing to warn about, nothing to watch, no limit near. */
function isOrdinary(state: StreamState): boolean {
  return (
    state.suspicion === null &&
    (state.saidOddByte || state.meter.carriedByte === null) &&
    (state.saidLimitWarning || remainingMs(state.meter) > LIMITS.limitWarningMs) &&
    !isFull(state.meter)
  );
}

function warn(state: StreamState, pcm: Uint8Array): Step {
  const events: ServerEvent[] = [];
  let next = state;
  if (next.suspicion !== null && pcm.byteLength > 0) {
    const verdict = examine(next.suspicion, pcm);
    next = { ...next, suspicion: typeof verdict === 'string' ? null : verdict };
    if (typeof verdict === 'string') {
      const message = 'The audio does not look like 16 kHz 16-bit PCM speech.';
      events.push({ type: 'status', message, code: 'suspicious_audio', hint: verdict });
    }
  }
  if (next.meter.carriedByte !== null && !next.saidOddByte) {
    next = { ...next, saidOddByte: true };
    const message = 'A frame ended inside a sample. Its last byte was joined to the next frame.';
    events.push({ type: 'status', message, code: 'odd_byte_carried' });
  }
  const leftMs = remainingMs(next.meter);
  if (!next.saidLimitWarning && pcm.byteLength > 0 && leftMs <= LIMITS.limitWarningMs) {
    next = { ...next, saidLimitWarning: true };
    const message = 'The reserved audio time is nearly used up.';
    events.push({ type: 'status', message, code: 'limit_warning', remaining_ms: leftMs });
  }
  return [next, events.map((event) => ({ do: 'send', event }))];
}

function then(step: Step, next: (state: StreamState) => Step): Step {
  const [state, actions] = next(step[0]);
  return [state, [...step[1], ...actions]];
}

function readyEvent(state: StreamState, chunkSamples: number): ServerEvent {
  return {
    type: 'ready',
    chunk_samples: chunkSamples,
    session_id: state.session.sessionId,
    model: state.session.model,
    language_code: MODELS[state.session.model].languageCode,
    encoding: AUDIO.encoding,
    sample_rate_hz: AUDIO.sampleRateHz,
    channels: AUDIO.channels,
    context_size: [...CONTEXT_SIZE],
    max_audio_ms: state.session.reservedMs,
    max_frame_bytes: LIMITS.frameBytes,
    idle_timeout_ms: state.limits.idleTimeoutMs,
  };
}

/** A delta can be on its way when a reset drops what it speaks of. */
function isDropped(state: StreamState, utterance: number): boolean {
  if (utterance === state.utterance) return false;
  return !state.markers.some((marker) => marker.ask === 'final' && marker.utterance === utterance);
}

function deltaEvent(event: EngineEvent & { type: 'delta' }): ServerEvent {
  return {
    type: 'delta',
    text: event.text,
    utterance: event.utterance,
    stable_chars: event.stableLength,
    audio_ms: audioMs(event.samples),
  };
}

function finalEvent(
  state: StreamState,
  marker: Marker & { ask: 'final' },
  event: EngineEvent & { type: 'final' },
): ServerEvent {
  const startMs = momentMs(marker.startSample);
  const endMs = audioMs(marker.endSample);
  return {
    type: 'final',
    text: event.text,
    utterance: marker.utterance,
    reason: marker.reason,
    ...(marker.id === undefined ? {} : { id: marker.id }),
    start_ms: startMs,
    end_ms: endMs,
    words: event.words.map((word) => ({
      text: word.text,
      start_ms: Math.min(endMs, startMs + word.startMs),
      end_ms: Math.min(endMs, startMs + word.endMs),
    })),
    audio_ms: audioMs(marker.endSample - marker.startSample),
    total_audio_ms: endMs,
    billable_ms: billableMs(state.meter, marker.endSample),
  };
}
