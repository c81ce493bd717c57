import { AUDIO, CONTEXT_SIZE, KEYTERMS, LIMITS, MODELS, type ServerEvent } from '@svc-asr/protocol';
import type { EngineEvent, SpeechDetector, VoiceVerdicts } from '@svc-asr/engine/core.ts';
import { endStalledTurn, feedTurns, joinEmptyEndpoint, resumed } from './endpointing.ts';
import { isCommand } from './pcm-frames.ts';
import { onMessage, onTinyFrame } from './stream-messages.ts';
import { acceptAudio, audioMs, isFull, remainingMs } from './metering.ts';
import {
  andThen,
  close,
  closeWithError,
  warnOnce,
  type Action,
  type Step,
  type Streaming,
  type StreamState,
} from './stream-state.ts';
import { closeIfAnswered, closeWhileFinishing, finish, onFinishingTick } from './finishing.ts';
import { finalEvent } from './final-event.ts';
import { reportError } from './replies.ts';

const OPENING_BRACE = 0x7b;
/** Audio earns message allowance at the rate of real time, so that messages may be as dense in a file sent fast. */
const MESSAGES_PER_AUDIO_BYTE =
  LIMITS.textMessagesPerSecond / (AUDIO.sampleRateHz * AUDIO.bytesPerSample);

/**
 * The rules of one stream as functions from state to state, without a socket, an engine or a clock. All are pure, except
 * that `onAudio` advances the detector which it is given (docs/design/turns.md).
 */

export function onReady(
  state: StreamState,
  input: {
    chunkSamples: number;
    nowMs: number;
    takesKeyterms?: boolean;
    canConfirm?: boolean;
    canPeek?: boolean;
  },
): Step {
  if (state.phase !== 'starting') return [state, []];
  const { nowMs, takesKeyterms = false, canConfirm = false, canPeek = false } = input;
  const { heldMessages, droppedEarlyAudio, ...facts } = state;
  const ready: Streaming = {
    ...facts,
    phase: 'streaming',
    takesKeyterms,
    canConfirm,
    canPeek,
    lastAudioAtMs: nowMs,
  };
  let step: Step = [ready, [{ do: 'send', event: readyEvent(ready, input.chunkSamples) }]];
  if (droppedEarlyAudio)
    step = andThen(step, (next) => reportError(next, { code: 'audio_before_ready', nowMs }));
  for (const message of heldMessages) {
    step = andThen(step, (next) => onMessage(next, { message, nowMs }));
  }
  return step;
}

/** Sent once per reason while the engine is not ready. */
export function onWaiting(state: StreamState, code: 'loading' | 'queued'): Step {
  if (state.phase !== 'starting') return [state, []];
  const message =
    code === 'loading' ? 'The recogniser is starting.' : 'Waiting for a recogniser to become free.';
  return warnOnce(state, code, { type: 'status', message, code });
}

interface AudioInput {
  readonly frame: Uint8Array;
  readonly nowMs: number;
  /** Finds the turns. Needed while endpointing is on. */
  readonly detector?: SpeechDetector | null;
  /** The verdicts of the second detector on this frame. Null: it didn't listen, or is late. */
  readonly voice?: VoiceVerdicts | null;
}

export function onAudio(state: StreamState, input: AudioInput): Step {
  if (input.frame.byteLength >= LIMITS.tinyFrameBytes) return takeAudio(state, input);
  return andThen(onTinyFrame(state, input.nowMs), (next) => takeAudio(next, input));
}

function takeAudio(state: StreamState, input: AudioInput): Step {
  switch (state.phase) {
    case 'starting':
      return [state.droppedEarlyAudio ? state : { ...state, droppedEarlyAudio: true }, []];
    case 'finishing':
    case 'closed':
      return [state, []];
    case 'streaming': {
      const { meter, pcm } = acceptAudio(state.meter, input.frame);
      const hasAudio = pcm.byteLength > 0;
      const metered = {
        ...state,
        meter,
        allowance: state.allowance + pcm.byteLength * MESSAGES_PER_AUDIO_BYTE,
        lastAudioAtMs: hasAudio ? input.nowMs : state.lastAudioAtMs,
      };
      const step: Step = hasAudio ? feed(metered, pcm, input) : [metered, []];
      if (isOrdinary(metered, input.frame)) return step;
      return andThen(
        andThen(step, (next) => warn(next, input.frame, pcm)),
        (next) =>
          isFull(next.meter)
            ? finish(next, { because: 'max_audio_reached', nowMs: input.nowMs })
            : [next, []],
      );
    }
  }
}

export function onEngineEvent(
  before: StreamState,
  { event, nowMs }: { event: EngineEvent; nowMs: number },
): Step {
  if (before.phase === 'closed') return [before, []];
  const state = before.phase === 'finishing' ? { ...before, engineEventAtMs: nowMs } : before;
  switch (event.type) {
    case 'delta':
      return isDropped(state, event.utterance)
        ? [state, []]
        : [state, [{ do: 'send', event: deltaEvent(state, event) }]];
    case 'final':
      return answerFinal(state, { event, nowMs });
    case 'error':
      // The client paused for longer than the recogniser waits. A pause must not make the session free.
      return closeWithError(
        state,
        event.reason === 'deadline_exceeded' ? 'idle_timeout' : 'internal_error',
      );
  }
}

/** Called periodically. `reading` is false while backpressure stops reading from the client. */
export function onTick(state: StreamState, input: { nowMs: number; reading: boolean }): Step {
  const { limits } = state;
  switch (state.phase) {
    case 'closed':
      return [state, []];
    case 'starting':
      return input.nowMs - state.openedAtMs >= limits.initializationMs
        ? closeWithError(state, 'initialization_timeout')
        : [state, []];
    case 'streaming':
      return onStreamingTick(state, input);
    case 'finishing':
      return onFinishingTick(state, input.nowMs);
  }
}

function onStreamingTick(state: Streaming, input: { nowMs: number; reading: boolean }): Step {
  const { nowMs } = input;
  const { sessionWallClockMs, idleTimeoutMs } = state.limits;
  const leftMs = Math.round(state.openedAtMs + sessionWallClockMs - nowMs);
  if (leftMs <= 0) return finish(state, { because: 'session_time_limit', nowMs });
  if (input.reading && !owesFinal(state) && nowMs - state.lastAudioAtMs >= idleTimeoutMs) {
    return finish(state, { because: 'idle_timeout', nowMs });
  }
  if (state.warned.has('time_limit') || leftMs > LIMITS.limitWarningMs) {
    return input.reading ? endStalledTurn(state, nowMs) : [state, []];
  }
  return warnOnce(state, 'time_limit', {
    type: 'status',
    message: 'The session time limit is nearly reached.',
    code: 'limit_warning',
    limit: 'session_time',
    remaining_ms: leftMs,
  });
}

/** The client's close frame. Accepted audio and pending flushes get their finals before the close is answered. */
export function onClientClose(state: StreamState, nowMs: number): Step {
  switch (state.phase) {
    case 'closed':
      return [state, []];
    case 'starting':
      return close(state, 'completed');
    case 'streaming':
      return finish(state, { because: 'closing', nowMs });
    case 'finishing':
      return closeWhileFinishing(state, nowMs);
  }
}

/** The first samples of the stream were charged in the session that it continues. */
export function onReplayed(state: StreamState, samples: number): Step {
  return [{ ...state, meter: { ...state.meter, replayedSamples: samples } }, []];
}

/** The connection is lost, so nothing more can be sent. */
export function onConnectionLost(state: StreamState): Step {
  return close(state, 'completed');
}

export function onDrain(state: StreamState, deadlineMs: number): Step {
  if (state.phase === 'closed') return [state, []];
  const message = 'This server is restarting. Streams may finish until the deadline.';
  const event: ServerEvent = { type: 'status', message, code: 'draining', deadline_ms: deadlineMs };
  return [state, [{ do: 'send', event }]];
}

/** The node is full and this stream is idle, so its slot is reclaimed. */
export function onReclaim(state: StreamState, nowMs: number): Step {
  return state.phase === 'streaming'
    ? finish(state, { because: 'slot_reclaimed', nowMs })
    : [state, []];
}

/** At the drain deadline the audio so far still gets its final. Then the stream ends unbilled. */
export function onDrainDeadline(state: StreamState, nowMs: number): Step {
  switch (state.phase) {
    case 'closed':
    case 'finishing':
      return [state, []];
    case 'starting':
      return closeWithError(state, 'service_restart');
    case 'streaming':
      return finish(state, { because: 'draining', nowMs });
  }
}

/** A final answers the oldest flush. Events queued behind it are sent with it. */
function answerFinal(
  state: StreamState,
  input: { event: EngineEvent & { type: 'final' }; nowMs: number },
): Step {
  const { event, nowMs } = input;
  const [marker, ...rest] = state.markers;
  if (marker?.ask !== 'final' || marker.utterance !== event.utterance) {
    return closeWithError(state, 'internal_error');
  }
  const joined = joinEmptyEndpoint(state, marker, event.text);
  if (joined !== null) return [joined, resumed(marker.utterance, marker.eager)];
  const actions: Action[] = [{ do: 'send', event: finalEvent(state, marker, event) }];
  let unanswered = rest;
  while (unanswered[0]?.ask === 'event') {
    actions.push({ do: 'send', event: unanswered[0].event });
    unanswered = unanswered.slice(1);
  }
  // A client that waited for a late final was not idle.
  const isLate = nowMs - state.lastAudioAtMs >= state.limits.idleTimeoutMs;
  const lastAudioAtMs = isLate ? nowMs : state.lastAudioAtMs;
  return closeIfAnswered({ ...state, lastAudioAtMs, markers: unanswered }, actions);
}

/** Whether a client waits for the final of audio that it flushed. */
function owesFinal(state: StreamState): boolean {
  return state.markers.some(({ ask }) => ask === 'final');
}

/** True for nearly every frame: no warning, no pending check, no limit near. */
function isOrdinary(state: StreamState, frame: Uint8Array): boolean {
  return (
    (frame[0] !== OPENING_BRACE || state.warned.has('command_as_audio')) &&
    (state.meter.carriedByte === null || state.warned.has('odd_byte')) &&
    (remainingMs(state.meter) > LIMITS.limitWarningMs || state.warned.has('audio_limit')) &&
    !isFull(state.meter)
  );
}

function warn(state: StreamState, frame: Uint8Array, pcm: Uint8Array): Step {
  let step: Step = [state, []];
  if (isCommand(frame)) {
    const message = 'A binary frame holds a JSON message. It was treated as audio.';
    const hint = 'Send config, flush and reset as text frames.';
    step = andThen(step, (next) =>
      warnOnce(next, 'command_as_audio', {
        type: 'status',
        message,
        code: 'suspicious_audio',
        hint,
      }),
    );
  }
  if (state.meter.carriedByte !== null) {
    const message = 'A frame ended inside a sample. Its last byte was joined to the next frame.';
    step = andThen(step, (next) =>
      warnOnce(next, 'odd_byte', { type: 'status', message, code: 'odd_byte_carried' }),
    );
  }
  const leftMs = remainingMs(state.meter);
  if (pcm.byteLength > 0 && leftMs <= LIMITS.limitWarningMs) {
    const message = 'The reserved audio time is nearly used up.';
    const limit = { limit: 'audio', remaining_ms: leftMs } as const;
    step = andThen(step, (next) =>
      warnOnce(next, 'audio_limit', { type: 'status', message, code: 'limit_warning', ...limit }),
    );
  }
  return step;
}

function feed(
  state: StreamState,
  pcm: Uint8Array,
  { detector = null, voice = null }: AudioInput,
): Step {
  if (state.turns === null) return [state, [{ do: 'feed', pcm }]];
  if (detector === null) throw new TypeError('Endpointing needs a detector.');
  return feedTurns(state, { pcm, detector, voice }, state.turns);
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
    session_time_limit_ms: state.limits.sessionWallClockMs,
    keyterms: state.takesKeyterms
      ? { max_terms: KEYTERMS.termsMax, max_chars: KEYTERMS.lettersMax }
      : null,
  };
}

/** A delta can be in flight when a reset drops its utterance. */
function isDropped(state: StreamState, utterance: number): boolean {
  if (utterance === state.utterance) return false;
  return !state.markers.some((marker) => marker.ask === 'final' && marker.utterance === utterance);
}

function deltaEvent(state: StreamState, event: EngineEvent & { type: 'delta' }): ServerEvent {
  const joinedSamples =
    event.utterance === state.utterance
      ? state.utteranceOriginSample - state.utteranceStartSample
      : 0;
  return {
    type: 'delta',
    text: event.text,
    utterance: event.utterance,
    stable_chars: event.stableLength,
    audio_ms: audioMs(event.samples + joinedSamples),
  };
}
