import { Type, type Static } from 'typebox';
import { ENDPOINTING } from './constants.ts';

/** Text messages that a client may send. Unknown fields are not an error; `config_ack.ignored` lists them. */

const Id = Type.Optional(
  Type.Union([Type.String({ maxLength: 128 }), Type.Number()], {
    description: 'Repeated in the response, so that you can match them.',
  }),
);

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
  },
  { title: 'Endpointing' },
);
export type Endpointing = Static<typeof Endpointing>;

export const ConfigMessage = Type.Object(
  {
    type: Type.Literal('config'),
    id: Id,
    language: Type.Optional(Type.String()),
    context: Type.Optional(Type.Tuple([Type.Number(), Type.Number()])),
    endpointing: Type.Optional(
      Type.Union([Type.Literal(false), Endpointing], {
        description: 'Turns automatic finals on or off. Off unless a client asks for it.',
      }),
    ),
  },
  { title: 'ConfigMessage' },
);
export type ConfigMessage = Static<typeof ConfigMessage>;

export const FlushMessage = Type.Object(
  { type: Type.Literal('flush'), id: Id },
  { title: 'FlushMessage' },
);
export type FlushMessage = Static<typeof FlushMessage>;

export const ResetMessage = Type.Object(
  { type: Type.Literal('reset'), id: Id },
  { title: 'ResetMessage' },
);
export type ResetMessage = Static<typeof ResetMessage>;

export const ClientMessage = Type.Union([ConfigMessage, FlushMessage, ResetMessage]);
export type ClientMessage = Static<typeof ClientMessage>;
