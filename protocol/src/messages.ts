import { Type, type Static } from 'typebox';

/** What a client may send as text. Unknown fields are not an error: `config_ack.ignored` lists them. */

const Id = Type.Optional(
  Type.String({
    maxLength: 128,
    description: 'Echoed in the answer, so that a caller can match it.',
  }),
);

export const ConfigMessage = Type.Object(
  {
    type: Type.Literal('config'),
    id: Id,
    language: Type.Optional(Type.String()),
    context: Type.Optional(Type.Tuple([Type.Number(), Type.Number()])),
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
