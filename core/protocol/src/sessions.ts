import { Type, type Static } from 'typebox';
import { CONTEXT_SIZE, CREDENTIAL_PREFIX, LIMITS, MODEL_IDS, SUBPROTOCOL } from './constants.ts';
import { AUDIO_FIELDS, ModelIdSchema } from './models.ts';
import { Closed, constant, dateTime, uuid } from './schema.ts';

/** `model` is any string here: an unknown one gets 404, not 400. */
export const CreateSessionRequest = Closed(
  {
    model: Type.String({
      description: 'A model id, as listed by GET /v1/models.',
      examples: [...MODEL_IDS],
    }),
    max_audio_seconds: Type.Optional(
      Type.Integer({
        minimum: LIMITS.audioSecondsMin,
        maximum: LIMITS.audioSecondsMax,
        default: LIMITS.audioSecondsDefault,
        description: 'Maximum audio to reserve. The reservation may be lower.',
      }),
    ),
  },
  'CreateSessionRequest',
  'A request for a session.',
);
export type CreateSessionRequest = Static<typeof CreateSessionRequest>;

const reservedSeconds = { minimum: LIMITS.audioSecondsMin, maximum: LIMITS.audioSecondsMax };

export const SessionAudio = Closed(
  {
    ...AUDIO_FIELDS,
    max_audio_seconds: Type.Number({
      ...reservedSeconds,
      description: 'The audio limit of this session. It may be lower than requested.',
    }),
    context_size: Type.Tuple([Type.Literal(CONTEXT_SIZE[0]), Type.Literal(CONTEXT_SIZE[1])], {
      description: `The model's attention context in frames of 80 ms, left then right. Always [${CONTEXT_SIZE.join(', ')}].`,
    }),
  },
  'SessionAudio',
  'The audio format and the audio limit of a session.',
);

export const SessionCredits = Closed(
  {
    unit: constant('audio_second', 'The unit of the other fields.'),
    reserved: Type.Number({ minimum: 1, description: 'Seconds reserved for this session.' }),
    remaining: Type.Number({ minimum: 0, description: 'Whole seconds left for other sessions.' }),
  },
  'SessionCredits',
  'What the session reserved, and what is left.',
);

export const AsrSession = Closed(
  {
    id: uuid('The id of the session, as in `GET /v1/usage` and `ready.session_id`.'),
    object: constant('asr.session', 'The type of the object.'),
    status: constant(
      'reserved',
      'Reserved: credit is held until the stream opens or the time is up.',
    ),
    model: ModelIdSchema,
    websocket_url: Type.String({
      format: 'uri',
      pattern: '^wss://',
      description: 'The address of the stream. Use it as it is; it may differ for each session.',
    }),
    websocket_protocols: Type.Tuple(
      [
        Type.Literal(SUBPROTOCOL),
        Type.String({ pattern: `^${CREDENTIAL_PREFIX.replaceAll('.', '\\.')}` }),
      ],
      {
        description: `\`${SUBPROTOCOL}\`, then a single-use credential that begins \`${CREDENTIAL_PREFIX}\`. Offer both as WebSocket subprotocols, in this order. Never log them.`,
      },
    ),
    expires_at: dateTime(
      `When the credential expires: ${LIMITS.credentialLifetimeMs / 1000} seconds after creation. Open the stream before.`,
    ),
    audio: SessionAudio,
    credits: SessionCredits,
  },
  'AsrSession',
  'A reserved session. It holds a secret: pass it to the client that streams, and never log it.',
);
export type AsrSession = Static<typeof AsrSession>;
