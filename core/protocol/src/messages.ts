import { Type, type Static } from 'typebox';
import { CONTEXT_SIZE, ENDPOINTING, MODELS } from './constants.ts';
import { KEYTERMS } from './keyterms.ts';
import { constant } from './schema.ts';

/** How many lost sessions a stream may name. */
export const CONTINUES_MAX = 4;

/** Text messages that a client may send. Unknown fields are not an error; `config_ack.ignored` lists them. */

const Id = Type.Optional(
  Type.Union([Type.String({ maxLength: 128 }), Type.Number()], {
    description: 'Your own mark. The answer, or the error about the message, repeats it.',
  }),
);

function messageType<const T extends string>(name: T) {
  return constant(name, 'The type of the message.');
}

export const Endpointing = Type.Object(
  {
    silence_ms: Type.Optional(
      Type.Integer({
        minimum: ENDPOINTING.silenceMs.min,
        maximum: ENDPOINTING.silenceMs.max,
        default: ENDPOINTING.silenceMs.default,
        description: 'The server sends a final when nobody has spoken for this long.',
      }),
    ),
    max_utterance_ms: Type.Optional(
      Type.Integer({
        minimum: ENDPOINTING.maxUtteranceMs.min,
        maximum: ENDPOINTING.maxUtteranceMs.max,
        default: ENDPOINTING.maxUtteranceMs.default,
        description: 'No utterance is longer than this. Near it, the server uses a short pause.',
      }),
    ),
    eager_ms: Type.Optional(
      Type.Integer({
        minimum: ENDPOINTING.eagerMs.min,
        maximum: ENDPOINTING.silenceMs.max - ENDPOINTING.eagerMs.below,
        description:
          'The server sends `turn_eager` when nobody has spoken for this long: at least 100 less than `silence_ms`. Off unless you name it.',
      }),
    ),
    detector: Type.Optional(
      Type.Enum([...ENDPOINTING.detectors], {
        default: ENDPOINTING.detector,
        description:
          '`level` listens to loudness and pitch. `confirmed` adds a second detector, which hears pauses in music and noise.',
      }),
    ),
  },
  {
    title: 'Endpointing',
    description: 'Automatic finals at pauses. Fields that you leave out get their defaults.',
  },
);
export type Endpointing = Static<typeof Endpointing>;

export const ConfigMessage = Type.Object(
  {
    type: messageType('config'),
    id: Id,
    language: Type.Optional(
      Type.String({
        description: `Checks the language; the model decides it. ${languageNames()} A different one gets \`language_mismatch\`.`,
      }),
    ),
    context: Type.Optional(
      Type.Tuple([Type.Number(), Type.Number()], {
        description: `Only [${CONTEXT_SIZE.join(', ')}] is supported.`,
      }),
    ),
    endpointing: Type.Optional(
      Type.Union([Type.Literal(false), Endpointing], {
        description: 'Turns automatic finals on or off. Off unless a client asks for it.',
      }),
    ),
    keyterms: Type.Optional(
      Type.Array(Type.String(), {
        description:
          `Names and words to listen for, in place of the earlier list. At most ${KEYTERMS.termsMax} with ` +
          `${KEYTERMS.lettersMax.toLocaleString('en')} characters in all. An empty list removes them. They apply from the next ` +
          'utterance on, or from this one if it has no audio yet.',
      }),
    ),
    numbers: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Adds `text_formatted` to finals and `turn_eager`, and `entities` to finals: numbers as digits. `text` and `words` stay as they are. Applies to ' +
          'utterances that end after this message.',
      }),
    ),
    continues: Type.Optional(
      Type.Array(Type.String({ pattern: '^[0-9a-f]{32}_[A-Za-z0-9_-]{16}$' }), {
        maxItems: CONTINUES_MAX,
        description:
          'Sessions whose connection you lost, before you send their audio again: the id without hyphens, `_` and the last 16 ' +
          'characters of the credential. Audio that one of them was charged for is not charged again. Must come before audio.',
      }),
    ),
  },
  { title: 'ConfigMessage', description: 'Sets options. All fields but `type` are optional.' },
);
export type ConfigMessage = Static<typeof ConfigMessage>;

function languageNames(): string {
  return Object.values(MODELS)
    .map(
      ({ language, aliases }) => `${language}: ${aliases.map((name) => `\`${name}\``).join(', ')}.`,
    )
    .join(' ');
}

export const FlushMessage = Type.Object(
  { type: messageType('flush'), id: Id },
  { title: 'FlushMessage', description: 'Ends the utterance. Exactly one final answers it.' },
);
export type FlushMessage = Static<typeof FlushMessage>;

export const ResetMessage = Type.Object(
  { type: messageType('reset'), id: Id },
  {
    title: 'ResetMessage',
    description: 'Discards the audio since the last final and starts the next utterance.',
  },
);
export type ResetMessage = Static<typeof ResetMessage>;

export const ClientMessage = Type.Union([ConfigMessage, FlushMessage, ResetMessage]);
export type ClientMessage = Static<typeof ClientMessage>;
