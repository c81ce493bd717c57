import { Type, type Static } from 'typebox';
import { AUDIO, CHUNK_SAMPLES, CONTEXT_SIZE, LIMITS } from './constants.ts';
import { ModelIdSchema } from './models.ts';
import { Count, Uuid } from './schema.ts';

/** Events that the server sends as text. Clients ignore unknown event types, fields and codes. */

const Id = Type.Optional(Type.Union([Type.String(), Type.Number()]));
const Context = Type.Tuple([Type.Literal(CONTEXT_SIZE[0]), Type.Literal(CONTEXT_SIZE[1])], {
  description: `Always [${CONTEXT_SIZE.join(', ')}].`,
});

export const STATUS_CODES = [
  'queued',
  'loading',
  'limit_warning',
  'draining',
  'suspicious_audio',
  'odd_byte_carried',
] as const;
export type StatusCode = (typeof STATUS_CODES)[number];

export const StatusEvent = Type.Object(
  {
    type: Type.Literal('status'),
    message: Type.String(),
    code: Type.Enum([...STATUS_CODES]),
    hint: Type.Optional(
      Type.String({ description: 'With suspicious_audio: what the audio looks like.' }),
    ),
    remaining_ms: Type.Optional(Count),
    limit: Type.Optional(
      Type.Enum(['audio', 'session_time'], { description: 'limit_warning: which limit is near.' }),
    ),
    deadline_ms: Type.Optional(Count),
  },
  { title: 'StatusEvent' },
);
export type StatusEvent = Static<typeof StatusEvent>;

export const ReadyEvent = Type.Object(
  {
    type: Type.Literal('ready'),
    chunk_samples: Type.Literal(CHUNK_SAMPLES),
    session_id: Uuid,
    model: ModelIdSchema,
    language_code: Type.String(),
    encoding: Type.Literal(AUDIO.encoding),
    sample_rate_hz: Type.Literal(AUDIO.sampleRateHz),
    channels: Type.Literal(AUDIO.channels),
    context_size: Context,
    max_audio_ms: Count,
    max_frame_bytes: Type.Literal(LIMITS.frameBytes),
    idle_timeout_ms: Count,
    session_time_limit_ms: Count,
  },
  { title: 'ReadyEvent' },
);
export type ReadyEvent = Static<typeof ReadyEvent>;

export const ConfigAckEvent = Type.Object(
  {
    type: Type.Literal('config_ack'),
    id: Id,
    language: Type.String(),
    context: Context,
    endpointing: Type.Union([
      Type.Literal(false),
      Type.Object({ silence_ms: Count, max_utterance_ms: Count }, { title: 'EndpointingInForce' }),
    ]),
    effective: Type.Enum(['now', 'next_utterance']),
    ignored: Type.Array(Type.String()),
  },
  { title: 'ConfigAckEvent' },
);
export type ConfigAckEvent = Static<typeof ConfigAckEvent>;

export const ResetAckEvent = Type.Object(
  {
    type: Type.Literal('reset_ack'),
    id: Id,
    utterance: Count,
    discarded_ms: Count,
    total_audio_ms: Count,
  },
  { title: 'ResetAckEvent' },
);
export type ResetAckEvent = Static<typeof ResetAckEvent>;

export const DeltaEvent = Type.Object(
  {
    type: Type.Literal('delta'),
    text: Type.String({ description: 'The whole current utterance: replace, never append.' }),
    utterance: Count,
    stable_chars: Type.Integer({
      minimum: 0,
      description: "The first `stable_chars` characters of text won't change.",
    }),
    audio_ms: Count,
  },
  { title: 'DeltaEvent' },
);
export type DeltaEvent = Static<typeof DeltaEvent>;

/** How likely the text is right. Left out where the model can't tell. */
const Confidence = Type.Optional(Type.Number({ minimum: 0, maximum: 1 }));

export const SpeechStartedEvent = Type.Object(
  {
    type: Type.Literal('speech_started'),
    utterance: Count,
    audio_ms: Type.Integer({ minimum: 0, description: 'Where in the session speech starts.' }),
  },
  { title: 'SpeechStartedEvent' },
);
export type SpeechStartedEvent = Static<typeof SpeechStartedEvent>;

export const SpeechEndedEvent = Type.Object(
  {
    type: Type.Literal('speech_ended'),
    utterance: Count,
    audio_ms: Type.Integer({ minimum: 0, description: 'Where in the session speech ends.' }),
  },
  { title: 'SpeechEndedEvent' },
);
export type SpeechEndedEvent = Static<typeof SpeechEndedEvent>;

export const Word = Type.Object(
  { text: Type.String(), start_ms: Count, end_ms: Count, confidence: Confidence },
  { title: 'Word' },
);
export type Word = Static<typeof Word>;

export const FINAL_REASONS = [
  'flush',
  'endpoint',
  'max_audio_reached',
  'idle_timeout',
  'session_time_limit',
  'draining',
  'closing',
] as const;
export type FinalReason = (typeof FINAL_REASONS)[number];

export const FinalEvent = Type.Object(
  {
    type: Type.Literal('final'),
    text: Type.String(),
    utterance: Count,
    reason: Type.Enum([...FINAL_REASONS]),
    id: Id,
    start_ms: Count,
    end_ms: Count,
    confidence: Confidence,
    words: Type.Array(Word),
    audio_ms: Count,
    total_audio_ms: Count,
    billable_ms: Type.Integer({ minimum: 0, description: 'The charge for the session so far.' }),
  },
  { title: 'FinalEvent' },
);
export type FinalEvent = Static<typeof FinalEvent>;

/** Errors on the stream. Those with `close` are fatal: the server then closes the stream with that code. */
export const STREAM_ERRORS = {
  audio_before_ready: {
    message: 'Audio sent before the ready event was dropped and not charged. Wait for ready.',
  },
  invalid_message: {
    message: 'A text message was not a JSON object with a type and was ignored. Fix the client.',
  },
  unknown_message_type: {
    message: 'A text message had an unknown type. Send only config, flush and reset.',
  },
  language_mismatch: {
    message:
      "config.language does not match this session's model. Create a session with the other model.",
  },
  invalid_endpointing: {
    message:
      'config.endpointing was ignored. Send false, or silence_ms from 200 to 5000 and max_utterance_ms from 5000 to 60000.',
  },
  unsupported_context: { message: 'config.context was ignored. Only [56, 13] is supported.' },
  flush_throttled: {
    retryable: true,
    message:
      'Too many flushes in a second, or too many unanswered ones. This one was ignored. Send it again in a second.',
  },
  protocol_error: {
    close: 1002,
    message: 'The WebSocket protocol was violated. Accepted audio is charged. Fix the client.',
  },
  invalid_utf8: {
    close: 1007,
    message: 'A text message was not valid UTF-8. Accepted audio is charged. Fix the client.',
  },
  too_many_errors: {
    close: 1008,
    message:
      'More than ten errors, or more than 20 audio frames under 64 bytes a second. Accepted audio is charged. Fix the client.',
  },
  too_many_messages: {
    close: 1008,
    message:
      'Too many text messages, pings or pongs. Accepted audio is charged. Send at most 20 a second.',
  },
  message_too_large: {
    close: 1009,
    message: 'A message was too large. Send at most 65,536 bytes of audio or 16 KiB of text.',
  },
  slow_reader: {
    close: 1008,
    message:
      'The client reads events too slowly. Accepted audio is charged. Read events as they arrive.',
  },
  internal_error: {
    close: 1011,
    retryable: true,
    message: 'The recogniser failed. Nothing is charged. Create a new session now.',
  },
  service_restart: {
    close: 1012,
    retryable: true,
    message: 'This server is restarting. Nothing is charged. Create a new session now.',
  },
  initialization_timeout: {
    close: 1013,
    retryable: true,
    message: 'The recogniser did not start in time. Nothing is charged. Wait a moment, then retry.',
  },
  account_inactive: {
    close: 4403,
    message:
      'This account is no longer active. Accepted audio is charged. Contact the operator of this service.',
  },
  session_ended: {
    close: 4403,
    message:
      'The operator of this service ended this session. Accepted audio is charged. Contact the operator before you create another.',
  },
  idle_timeout: {
    close: 4408,
    message:
      'No audio for a minute. Accepted audio is charged. Create a session when someone speaks again.',
  },
  slot_reclaimed: {
    close: 4408,
    message:
      'The server is full and this stream was idle. Accepted audio is charged. Create a session when someone speaks again.',
  },
  session_time_limit: {
    close: 4408,
    message:
      'The session reached its limit of 15 minutes. Accepted audio is charged. Create a new session.',
  },
} as const satisfies Record<string, { close?: number; retryable?: boolean; message: string }>;
export type StreamErrorCode = keyof typeof STREAM_ERRORS;

/** Close reasons of a normal close. */
export const NORMAL_CLOSE_REASONS = ['completed', 'max_audio_reached'] as const;

export const ErrorEvent = Type.Object(
  {
    type: Type.Literal('error'),
    message: Type.String(),
    code: Type.String(),
    fatal: Type.Boolean(),
    retryable: Type.Boolean(),
    close_code: Type.Optional(Type.Integer()),
    id: Id,
    retry_after_ms: Type.Optional(
      Type.Integer({ minimum: 0, description: 'A refused stream: wait this long, then retry.' }),
    ),
    session_id: Type.Optional(Uuid),
    request_id: Uuid,
  },
  { title: 'ErrorEvent' },
);
export type ErrorEvent = Static<typeof ErrorEvent>;

export const ServerEvent = Type.Union([
  StatusEvent,
  ReadyEvent,
  ConfigAckEvent,
  ResetAckEvent,
  DeltaEvent,
  FinalEvent,
  SpeechStartedEvent,
  SpeechEndedEvent,
  ErrorEvent,
]);
export type ServerEvent = Static<typeof ServerEvent>;
