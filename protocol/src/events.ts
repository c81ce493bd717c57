import { Type, type Static } from 'typebox';
import { AUDIO, CHUNK_SAMPLES, CONTEXT_SIZE, LIMITS } from './constants.ts';
import { ModelIdSchema } from './models.ts';
import { Count, Uuid } from './schema.ts';

/** What the server sends as text. Clients ignore event types, fields and codes that they do not know. */

const Id = Type.Optional(Type.String());
const Context = Type.Tuple([Type.Literal(CONTEXT_SIZE[0]), Type.Literal(CONTEXT_SIZE[1])]);

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
    hint: Type.Optional(Type.String({ description: 'suspicious_audio: what it looks like.' })),
    remaining_ms: Type.Optional(Count),
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
      description: 'So many characters of text will not change any more.',
    }),
    audio_ms: Count,
  },
  { title: 'DeltaEvent' },
);
export type DeltaEvent = Static<typeof DeltaEvent>;

export const Word = Type.Object(
  { text: Type.String(), start_ms: Count, end_ms: Count },
  { title: 'Word' },
);
export type Word = Static<typeof Word>;

export const FINAL_REASONS = ['flush', 'max_audio_reached', 'draining'] as const;
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
    words: Type.Array(Word),
    audio_ms: Count,
    total_audio_ms: Count,
    billable_ms: Type.Integer({ minimum: 0, description: 'The receipt so far, for the session.' }),
  },
  { title: 'FinalEvent' },
);
export type FinalEvent = Static<typeof FinalEvent>;

/** Errors on the stream. A fatal one is followed by the close it names. */
export const STREAM_ERRORS = {
  audio_before_ready: {
    message: 'Audio sent before the ready event was dropped; it was not charged. Wait for ready.',
  },
  invalid_message: {
    message: 'A text message was not a JSON object with a type. It was ignored. Fix the client.',
  },
  unknown_message_type: {
    message: 'A text message had an unknown type. Only config, flush and reset exist.',
  },
  language_mismatch: {
    message:
      "config.language is not this session's language. Create a session for the other model.",
  },
  unsupported_context: { message: 'config.context can only be [56, 13]. It was left as it is.' },
  flush_throttled: {
    message: 'More than five flushes in a second. This one was ignored: send it again in a second.',
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
      'Too many errors, or too many messages in a second. Accepted audio is charged. Fix the client.',
  },
  message_too_large: {
    close: 1009,
    message:
      'A message was too large: audio up to 65,536 bytes, text up to 16 KiB. Fix the client.',
  },
  slow_reader: {
    close: 1008,
    message:
      'The client does not read what it is sent. Accepted audio is charged. Read events faster.',
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
    message: 'The recogniser did not start in time. Nothing is charged. Retry after a moment.',
  },
  account_inactive: {
    close: 4403,
    message:
      'This account is no longer active. Accepted audio is charged. Ask the operator of this service.',
  },
  idle_timeout: {
    close: 4408,
    message:
      'No audio for a minute. Accepted audio is charged. Create a session when speaking again.',
  },
  session_time_limit: {
    close: 4408,
    message: 'The session lasted 15 minutes. Accepted audio is charged. Create a new session.',
  },
} as const satisfies Record<string, { close?: number; retryable?: boolean; message: string }>;
export type StreamErrorCode = keyof typeof STREAM_ERRORS;

/** The words that a normal close carries. */
export const NORMAL_CLOSE_REASONS = ['completed', 'max_audio_reached'] as const;

export const ErrorEvent = Type.Object(
  {
    type: Type.Literal('error'),
    message: Type.String(),
    code: Type.String(),
    fatal: Type.Boolean(),
    retryable: Type.Boolean(),
    close_code: Type.Optional(Type.Integer()),
    session_id: Uuid,
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
  ErrorEvent,
]);
export type ServerEvent = Static<typeof ServerEvent>;
