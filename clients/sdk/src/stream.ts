import { SvcStream } from './stream/svc-stream.ts';
import type { StreamOptions } from './stream/options.ts';

/**
 * Opens a stream. Needs a session, never a key, so it may run anywhere.
 *
 * ```ts
 * const stream = openStream({ getSession: fetchSession('/session') });
 * stream.on('delta', ({ text }) => show(text));
 * await stream.write(pcm);
 * const { text } = await stream.finish();
 * ```
 */
export function openStream(options: StreamOptions): SvcStream {
  return new SvcStream(options);
}

export { SvcError, type SvcErrorDetails } from './errors.ts';
export type { CloseInfo } from './stream/close-info.ts';
export type {
  ReconnectingEvent,
  WaitingEvent,
  StreamEvent,
  StreamListeners,
  Unsubscribe,
} from './stream/events.ts';
export { fetchSession } from './stream/fetch-session.ts';
export type {
  AudioChunk,
  EndpointingOptions,
  GetSession,
  SessionRequest,
  StreamOptions,
} from './stream/options.ts';
export type { SessionReceipt, Transcript } from './stream/transcript.ts';
export type { SvcStream } from './stream/svc-stream.ts';
export type {
  AsrSession,
  DeltaEvent,
  ErrorEvent,
  ConfigAckEvent,
  FinalEvent,
  ModelId,
  NumberEntity,
  ReadyEvent,
  SpeechEndedEvent,
  TurnEagerEvent,
  TurnResumedEvent,
  SpeechStartedEvent,
  StatusEvent,
  Word,
} from '@svc-asr/protocol';
