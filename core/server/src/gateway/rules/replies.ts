import { LIMITS, type ServerEvent, type StreamErrorCode } from '@svc-asr/protocol';
import { offend } from './finishing.ts';
import type { MessageId } from './pcm-frames.ts';
import { errorEvent, type Step, type StreamState } from './stream-state.ts';

/** Finals and replies that may be outstanding. */
const REPLIES_PENDING_MAX = 256;

/** Reports an error and continues, ten times. The eleventh ends the stream. */
export function reportError(
  state: StreamState,
  input: {
    code: StreamErrorCode;
    id?: MessageId | undefined;
    ignored?: readonly string[];
    nowMs: number;
  },
): Step {
  const { code, id, ignored, nowMs } = input;
  if (state.nonFatalErrors >= LIMITS.nonFatalErrors) {
    return offend(state, { code: 'too_many_errors', nowMs });
  }
  const event = errorEvent(state.session, code, { id, ignored });
  return reply({ ...state, nonFatalErrors: state.nonFatalErrors + 1 }, { event, nowMs });
}

/** Sends an event at once, or after the finals requested before it. */
export function reply(state: StreamState, input: { event: ServerEvent; nowMs: number }): Step {
  const { event, nowMs } = input;
  if (state.markers.length === 0) return [state, [{ do: 'send', event }]];
  if (state.markers.length >= REPLIES_PENDING_MAX) {
    return offend(state, { code: 'too_many_messages', nowMs });
  }
  return [{ ...state, markers: [...state.markers, { ask: 'event', event }] }, []];
}
