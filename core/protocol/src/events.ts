import { Type, type Static } from 'typebox';
import { CHUNK_SAMPLES, CONTEXT_SIZE, ENDPOINTING, LIMITS } from './constants.ts';
import { KEYTERM_REFUSALS } from './keyterms.ts';
import { AUDIO_FIELDS, ModelIdSchema } from './models.ts';
import { NUMBER_LANGUAGES } from './languages.ts';
import { constant, count, uuid } from './schema.ts';

/** Events that the server sends as text. Clients ignore unknown event types, fields and codes. */

const Id = Type.Optional(
  Type.Union([Type.String(), Type.Number()], {
    description: 'The `id` of the message that this event answers, exactly as it was sent.',
  }),
);
const Context = Type.Tuple([Type.Literal(CONTEXT_SIZE[0]), Type.Literal(CONTEXT_SIZE[1])], {
  description: `The model's attention context in frames of 80 ms, left then right. Always [${CONTEXT_SIZE.join(', ')}].`,
});
const Utterance = count(
  'The number of the utterance, from 0. Every final and every reset starts the next. A number may be skipped.',
);
const TotalAudio = count('Audio that the session has accepted so far, in milliseconds.');

function eventType<const T extends string>(name: T) {
  return constant(name, 'The type of the event.');
}

export const STATUS_CODES = [
  'queued',
  'loading',
  'limit_warning',
  'draining',
  'suspicious_audio',
  'odd_byte_carried',
] as const;

export const StatusEvent = Type.Object(
  {
    type: eventType('status'),
    message: Type.String({ description: 'A sentence for people. It may change.' }),
    code: Type.Enum([...STATUS_CODES], {
      description:
        '`queued` and `loading` come before `ready`. `limit_warning`: the stream ends soon. `draining`: the server ' +
        'restarts. `suspicious_audio`: the audio is probably not in the expected format. `odd_byte_carried`: a frame ' +
        'ended inside a sample.',
    }),
    hint: Type.Optional(
      Type.String({
        description: 'With `suspicious_audio`: what the audio looks like, and what to send.',
      }),
    ),
    remaining_ms: Type.Optional(
      count('With `limit_warning`: what is left of the limit, in milliseconds.'),
    ),
    limit: Type.Optional(
      Type.Enum(['audio', 'session_time'], {
        description:
          'With `limit_warning`: the reserved audio or the time of the session is nearly used up.',
      }),
    ),
    deadline_ms: Type.Optional(
      count('With `draining`: how long from now the stream may continue, in milliseconds.'),
    ),
  },
  { title: 'StatusEvent', description: 'Progress, warnings and hints. The stream continues.' },
);
export type StatusEvent = Static<typeof StatusEvent>;

const KeytermLimits = Type.Object(
  {
    max_terms: count('How many keyterms one message may name.'),
    max_chars: count('How many characters they may have together.'),
  },
  { title: 'KeytermLimits', description: 'The model listens for keyterms within these limits.' },
);

export const ReadyEvent = Type.Object(
  {
    type: eventType('ready'),
    chunk_samples: constant(
      CHUNK_SAMPLES,
      'The recogniser decodes this many samples at a time, so a delta follows about every 1.12 s of audio.',
    ),
    session_id: uuid('The `id` of the session response.'),
    model: ModelIdSchema,
    language_code: Type.String({ description: "The ISO 639 code of the model's language." }),
    ...AUDIO_FIELDS,
    context_size: Context,
    max_audio_ms: count('The reserved audio. At this limit the stream ends with a final.'),
    max_frame_bytes: constant(LIMITS.frameBytes, 'The largest binary frame.'),
    idle_timeout_ms: count('Without audio for this long, the stream ends.'),
    session_time_limit_ms: count('The longest time that the stream may stay open.'),
    keyterms: Type.Optional(
      Type.Union([KeytermLimits, Type.Null()], {
        description:
          'The limits of `config.keyterms`. `null`: the model ignores keyterms. Left out by older servers; some send `true` or `false`.',
      }),
    ),
  },
  { title: 'ReadyEvent', description: 'The client may send audio. It carries the limits.' },
);
export type ReadyEvent = Static<typeof ReadyEvent>;

export const EndpointingInForce = Type.Object(
  {
    silence_ms: count('How long nobody must speak before the server sends a final.'),
    max_utterance_ms: count('The longest utterance.'),
    eager_ms: Type.Optional(
      count('How long nobody must speak before `turn_eager`. Absent: off, or this model cannot.'),
    ),
    detector: Type.Optional(
      Type.Enum([...ENDPOINTING.detectors], {
        description:
          'The detector in force, if you named one: `level` where the server has no second detector.',
      }),
    ),
  },
  { title: 'EndpointingInForce', description: 'Where the server ends utterances by itself.' },
);

export const KeytermsInForce = Type.Object(
  {
    taken: Type.Array(Type.String(), {
      description: 'The keyterms in force, as the models spell them.',
    }),
    refused: Type.Array(
      Type.Object(
        {
          index: count('The position in your list, from 0.'),
          reason: Type.Enum([...KEYTERM_REFUSALS], {
            description:
              '`not_supported`: this model ignores keyterms. `not_text`, `empty`, `duplicate`: as named. ' +
              "`unsupported_characters`: only a to z, ĩ, ũ, the apostrophe of ng' and spaces are possible. `too_long`: the list " +
              'has too many characters in all. `too_many`: this one and all after it are too many.',
          }),
        },
        { title: 'RefusedKeyterm', description: 'A keyterm that is not used.' },
      ),
      { description: 'The others.' },
    ),
  },
  { title: 'KeytermsInForce', description: 'Which keyterms are used, and why others are not.' },
);
export type KeytermsInForce = Static<typeof KeytermsInForce>;

export const ConfigAckEvent = Type.Object(
  {
    type: eventType('config_ack'),
    id: Id,
    language: Type.String({ description: 'The ISO 639 code of the language in force.' }),
    context: Context,
    endpointing: Type.Union([Type.Literal(false), EndpointingInForce], {
      description: 'The endpointing in force. `false`: off, only flushes end utterances.',
    }),
    effective: Type.Enum(['now', 'next_utterance'], {
      description:
        '`next_utterance`: the keyterms of the message apply after the next final or reset. Everything else applies at once.',
    }),
    keyterms: Type.Optional(KeytermsInForce),
    numbers: Type.Boolean({ description: 'Whether finals have numbers as digits.' }),
    ignored: Type.Array(Type.String(), {
      description: 'Fields of the message that the server does not know.',
    }),
  },
  { title: 'ConfigAckEvent', description: 'Confirms `config` and repeats the settings in force.' },
);
export type ConfigAckEvent = Static<typeof ConfigAckEvent>;

export const ResetAckEvent = Type.Object(
  {
    type: eventType('reset_ack'),
    id: Id,
    utterance: count('The number of the utterance that starts now.'),
    discarded_ms: count(
      'The audio since the last final, which gets no final. It is still charged. 0 if the stream ends before a final that was ' +
        'requested earlier: audio from that final on is not charged.',
    ),
    total_audio_ms: TotalAudio,
    billable_ms: Type.Optional(
      count(
        'What the session costs so far. Left out unless it continues a lost session, which was charged for some of this audio.',
      ),
    ),
  },
  { title: 'ResetAckEvent', description: 'Confirms `reset`.' },
);
export type ResetAckEvent = Static<typeof ResetAckEvent>;

export const DeltaEvent = Type.Object(
  {
    type: eventType('delta'),
    text: Type.String({ description: 'The whole current utterance: replace, never append.' }),
    utterance: Utterance,
    stable_chars: count(
      "The first `stable_chars` characters of `text` won't change. Counted in UTF-16 code units, like `length` in " +
        'JavaScript. The bundled models write only characters of one unit, so for them it also counts code points.',
    ),
    audio_ms: count('How much audio of the utterance the text covers.'),
  },
  { title: 'DeltaEvent', description: 'The utterance so far.' },
);
export type DeltaEvent = Static<typeof DeltaEvent>;

/** How likely the text is right. Left out where the model can't tell. */
function confidence(description: string) {
  return Type.Optional(Type.Number({ minimum: 0, maximum: 1, description }));
}

export const SpeechStartedEvent = Type.Object(
  {
    type: eventType('speech_started'),
    utterance: Utterance,
    audio_ms: count('Where in the session speech starts, accurate to about 100 ms.'),
    confirmed: Type.Optional(
      Type.Boolean({
        description:
          'Whether the second detector of `confirmed` heard speech too. Absent if it did not listen. Interrupt a voice agent unless it is `false`.',
      }),
    ),
  },
  { title: 'SpeechStartedEvent', description: 'Speech starts. Only with endpointing.' },
);
export type SpeechStartedEvent = Static<typeof SpeechStartedEvent>;

export const SpeechEndedEvent = Type.Object(
  {
    type: eventType('speech_ended'),
    utterance: Utterance,
    audio_ms: count('Where in the session speech ends, accurate to about 100 ms.'),
  },
  {
    title: 'SpeechEndedEvent',
    description:
      'Speech has ended. Only with endpointing. No final follows if nothing was recognised.',
  },
);
export type SpeechEndedEvent = Static<typeof SpeechEndedEvent>;

export const Word = Type.Object(
  {
    text: Type.String({ description: 'The word.' }),
    start_ms: count('When it starts, from the start of the session.'),
    end_ms: count('When it ends, from the start of the session.'),
    confidence: confidence('How likely the word is right. Left out where the model does not say.'),
  },
  { title: 'Word', description: 'A word with its time.' },
);
export type Word = Static<typeof Word>;

export const TurnEagerEvent = Type.Object(
  {
    type: eventType('turn_eager'),
    utterance: Utterance,
    eager: count('The number of the event, from 1. The final repeats it if its text is the same.'),
    text: Type.String({ description: 'The utterance so far. Never empty.' }),
    words: Type.Array(Word, { description: 'The words with their times.' }),
    text_formatted: Type.Optional(
      Type.String({ description: 'Only with `config.numbers`: `text` with numbers as digits.' }),
    ),
    confidence: confidence('The mean confidence of the words. Left out if a word has none.'),
    audio_ms: count('Where in the session the pause begins, accurate to about 100 ms.'),
  },
  {
    title: 'TurnEagerEvent',
    description:
      'The turn may be over. Only with `endpointing.eager_ms`. `turn_resumed` or the final of the utterance follows.',
  },
);
export type TurnEagerEvent = Static<typeof TurnEagerEvent>;

export const TurnResumedEvent = Type.Object(
  {
    type: eventType('turn_resumed'),
    utterance: Utterance,
    eager: count('The number of the `turn_eager` that no longer holds.'),
  },
  {
    title: 'TurnResumedEvent',
    description: 'The turn goes on, or was dropped: discard the answer to its `turn_eager`.',
  },
);
export type TurnResumedEvent = Static<typeof TurnResumedEvent>;

export const NumberEntity = Type.Object(
  {
    kind: Type.Enum(['number', 'amount', 'percent', 'digits'], {
      description:
        '`amount`: of money. `digits`: said one by one, like a telephone number. `number`: any other.',
    }),
    text: Type.String({ description: 'The number as `text_formatted` has it.' }),
    value: Type.Union([Type.Number(), Type.Null()], {
      description: 'Its value. Null for `digits`, where a leading zero counts.',
    }),
    first_word: count('The index of its first word in `words`.'),
    end_word: count('The index after its last word.'),
    start_ms: count('When its first word starts, from the start of the session.'),
    end_ms: count('When its last word ends, from the start of the session.'),
    confidence: confidence('The lowest confidence of its words. Left out if a word has none.'),
    language: Type.Enum([...NUMBER_LANGUAGES], {
      description: 'The ISO 639 code of the language of its first word. Speakers borrow numbers.',
    }),
    currency: Type.Optional(
      Type.String({ description: 'With `amount`: the ISO 4217 code of the currency.' }),
    ),
    alternatives: Type.Optional(
      Type.Array(Type.Number(), {
        description: 'Other values of the same words: 25,000 and 20,005 share theirs.',
      }),
    ),
  },
  { title: 'NumberEntity', description: 'A number in the words of an utterance.' },
);
export type NumberEntity = Static<typeof NumberEntity>;

const FINAL_REASONS = [
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
    type: eventType('final'),
    text: Type.String({ description: 'The finished utterance. Empty if nothing was recognised.' }),
    utterance: Utterance,
    reason: Type.Enum([...FINAL_REASONS], {
      description:
        'What ended the utterance. `flush`: your message. `endpoint`: a pause. `closing`: your close frame, an offence ' +
        'or a suspension. `draining`: a restart, which makes the session free. The others are limits.',
    }),
    id: Id,
    eager: Type.Optional(
      count('The number of the `turn_eager` that had the same text. Absent: none did.'),
    ),
    start_ms: count('Where the utterance starts in the session, where the previous one ended.'),
    end_ms: count('Where the utterance ends in the session.'),
    confidence: confidence(
      'The mean confidence of the words. Left out if a word has none, or if there is no word.',
    ),
    words: Type.Array(Word, { description: 'The words with their times.' }),
    text_formatted: Type.Optional(
      Type.String({ description: 'Only with `config.numbers`: `text` with numbers as digits.' }),
    ),
    entities: Type.Optional(
      Type.Array(NumberEntity, {
        description: 'Only with `config.numbers`: the numbers of `text_formatted`.',
      }),
    ),
    audio_ms: count('The audio of the utterance, in milliseconds.'),
    total_audio_ms: TotalAudio,
    billable_ms: count('The charge for the session so far, in whole seconds as milliseconds.'),
  },
  { title: 'FinalEvent', description: 'A finished utterance. Each flush gets exactly one.' },
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
      "None of this config was applied: config.language does not match this session's model. Create a session with the other model.",
  },
  invalid_endpointing: {
    message:
      'None of this config was applied: config.endpointing is not valid. Send false, or silence_ms from 200 to 5000, max_utterance_ms from 5000 to 60000, detector level or confirmed, and eager_ms from 160 to 100 less than silence_ms.',
  },
  invalid_keyterms: {
    message:
      'None of this config was applied: config.keyterms is not valid. Send an array of strings, or an empty one for none.',
  },
  invalid_numbers: {
    message: 'None of this config was applied: config.numbers is not valid. Send true or false.',
  },
  unsupported_context: {
    message:
      'None of this config was applied: config.context is not valid. Send [56, 13], or leave it out.',
  },
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
    type: eventType('error'),
    message: Type.String({ description: 'What happened and what to do. Safe to show.' }),
    code: Type.String({ description: 'Stable. Codes may be added.' }),
    fatal: Type.Boolean({ description: 'Whether the server closes the stream after this event.' }),
    retryable: Type.Boolean({
      description:
        'Fatal: the failure is ours, nothing is charged, and a new session helps. Not fatal: send the message again.',
    }),
    close_code: Type.Optional(
      Type.Integer({ description: 'If fatal: the code of the close frame that follows.' }),
    ),
    id: Id,
    ignored: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'A refused `config`: its fields. None of them was applied, whichever was not valid.',
      }),
    ),
    retry_after_ms: Type.Optional(
      count('A refused stream: wait this long, then open the same session again.'),
    ),
    session_id: Type.Optional(uuid('The session. Left out if the stream was refused.')),
    request_id: uuid('Equals `X-Request-Id` of the 101 response. Quote it to support.'),
  },
  { title: 'ErrorEvent', description: 'An error, and whether it ends the stream.' },
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
  TurnEagerEvent,
  TurnResumedEvent,
  ErrorEvent,
]);
export type ServerEvent = Static<typeof ServerEvent>;
