import { CONTEXT_SIZE, LIMITS, MODELS, type ServerEvent } from '@svc-asr/protocol';
import type { TextMessage } from './frames.ts';
import { audioMs } from './metering.ts';
import { complain, fail, type Marker, type Step, type StreamState } from './stream-state.ts';

/** What config, flush and reset do to a stream. */

const HELD_MESSAGES_MAX = 32;
const WINDOW_MS = 1_000;

type ConfigMessage = TextMessage & { type: 'config' };

export function onMessage(
  state: StreamState,
  input: { message: TextMessage; nowMs: number },
): Step {
  switch (state.phase) {
    case 'starting':
      return hold(state, input.message);
    case 'finishing':
      return [adoptFlush(state, input.message), []];
    case 'closed':
      return [state, []];
    case 'streaming':
      return answer(state, input);
  }
}

/** Text messages, pings and pongs draw on one allowance, or control frames would be a way around it. */
export function onControl(state: StreamState, nowMs: number): Step {
  const recent = within(state.recentMessagesMs, nowMs);
  if (recent.length >= LIMITS.textMessagesPerSecond) return fail(state, 'too_many_errors');
  return [{ ...state, recentMessagesMs: [...recent, nowMs] }, []];
}

function hold(state: StreamState, message: TextMessage): Step {
  if (state.heldMessages.length >= HELD_MESSAGES_MAX) return fail(state, 'too_many_errors');
  return [{ ...state, heldMessages: [...state.heldMessages, message] }, []];
}

/** A client that sends all it reserved and then flushes is answered by the final that is already on its way. */
function adoptFlush(state: StreamState, message: TextMessage): StreamState {
  const last = state.markers.at(-1);
  if (message.type !== 'flush' || last?.ask !== 'final' || last.id !== undefined) return state;
  return { ...state, markers: [...state.markers.slice(0, -1), { ...last, id: message.id }] };
}

function answer(state: StreamState, input: { message: TextMessage; nowMs: number }): Step {
  const { message, nowMs } = input;
  switch (message.type) {
    case 'config':
      return configure(state, message);
    case 'flush':
      return flush(state, { id: message.id, nowMs });
    case 'reset':
      return reset(state, message.id);
    case 'invalid':
      return complain(state, message.code);
  }
}

function configure(state: StreamState, message: ConfigMessage): Step {
  const { language, context } = message;
  if (language !== undefined && !denotes(state, language)) {
    return complain(state, 'language_mismatch');
  }
  if (context !== undefined && !isOurContext(context))
    return complain(state, 'unsupported_context');
  const isSilentSoFar = state.meter.acceptedSamples === state.utteranceStartSample;
  return reply(state, {
    type: 'config_ack',
    ...withId(message.id),
    language: MODELS[state.session.model].languageCode,
    context: [...CONTEXT_SIZE],
    effective: isSilentSoFar ? 'now' : 'next_utterance',
    ignored: [...message.ignored],
  });
}

function flush(state: StreamState, input: { id: string | undefined; nowMs: number }): Step {
  const recent = within(state.recentFlushesMs, input.nowMs);
  if (recent.length >= LIMITS.flushesPerSecond) return complain(state, 'flush_throttled');
  const marker: Marker = {
    ask: 'final',
    utterance: state.utterance,
    reason: 'flush',
    id: input.id,
    startSample: state.utteranceStartSample,
    endSample: state.meter.acceptedSamples,
  };
  const next: StreamState = {
    ...nextUtterance(state),
    recentFlushesMs: [...recent, input.nowMs],
    markers: [...state.markers, marker],
  };
  return [next, [{ do: 'flush' }]];
}

/** Drops what was said since the last final, half a sample included. It was accepted, so it stays charged. */
function reset(state: StreamState, id: string | undefined): Step {
  const discarded = state.meter.acceptedSamples - state.utteranceStartSample;
  const fresh = nextUtterance({ ...state, meter: { ...state.meter, carriedByte: null } });
  const [next, actions] = reply(fresh, {
    type: 'reset_ack',
    ...withId(id),
    utterance: fresh.utterance,
    discarded_ms: audioMs(discarded),
    total_audio_ms: audioMs(state.meter.acceptedSamples),
  });
  return [next, [{ do: 'reset' }, ...actions]];
}

/** At once, or behind the finals that were asked for earlier. */
function reply(state: StreamState, event: ServerEvent): Step {
  if (state.markers.length === 0) return [state, [{ do: 'send', event }]];
  return [{ ...state, markers: [...state.markers, { ask: 'event', event }] }, []];
}

function nextUtterance(state: StreamState): StreamState {
  return {
    ...state,
    utterance: state.utterance + 1,
    utteranceStartSample: state.meter.acceptedSamples,
  };
}

function denotes(state: StreamState, language: unknown): boolean {
  if (typeof language !== 'string') return false;
  const spoken = language.toLowerCase();
  return MODELS[state.session.model].aliases.some((alias) => alias.toLowerCase() === spoken);
}

function isOurContext(context: unknown): boolean {
  return (
    Array.isArray(context) &&
    context.length === CONTEXT_SIZE.length &&
    CONTEXT_SIZE.every((frames, at) => context[at] === frames)
  );
}

function withId(id: string | undefined): { id?: string } {
  return id === undefined ? {} : { id };
}

function within(timesMs: readonly number[], nowMs: number): readonly number[] {
  return timesMs.filter((timeMs) => nowMs - timeMs < WINDOW_MS);
}
