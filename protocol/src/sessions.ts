import { Type, type Static } from 'typebox';
import {
  AUDIO,
  CONTEXT_SIZE,
  CREDENTIAL_PREFIX,
  LIMITS,
  MODEL_IDS,
  SUBPROTOCOL,
} from './constants.ts';
import { ModelIdSchema } from './models.ts';
import { Closed, DateTime, Uuid } from './schema.ts';

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
);
export type CreateSessionRequest = Static<typeof CreateSessionRequest>;

const reservedSeconds = { minimum: LIMITS.audioSecondsMin, maximum: LIMITS.audioSecondsMax };

export const SessionAudio = Closed(
  {
    encoding: Type.Literal(AUDIO.encoding),
    sample_rate_hz: Type.Literal(AUDIO.sampleRateHz),
    channels: Type.Literal(AUDIO.channels),
    max_audio_seconds: Type.Number({
      ...reservedSeconds,
      description: 'The audio limit of this session. It may be lower than requested.',
    }),
    context_size: Type.Tuple([Type.Literal(CONTEXT_SIZE[0]), Type.Literal(CONTEXT_SIZE[1])], {
      description: `Always [${CONTEXT_SIZE.join(', ')}].`,
    }),
  },
  'SessionAudio',
);

export const SessionCredits = Closed(
  {
    unit: Type.Literal('audio_second'),
    reserved: Type.Number({ minimum: 1, description: 'Seconds reserved for this session.' }),
    remaining: Type.Number({ minimum: 0, description: 'Whole seconds left for other sessions.' }),
  },
  'SessionCredits',
);

export const AsrSession = Closed(
  {
    id: Uuid,
    object: Type.Literal('asr.session'),
    status: Type.Literal('reserved'),
    model: ModelIdSchema,
    websocket_url: Type.String({ format: 'uri', pattern: '^wss://' }),
    websocket_protocols: Type.Tuple(
      [
        Type.Literal(SUBPROTOCOL),
        Type.String({ pattern: `^${CREDENTIAL_PREFIX.replaceAll('.', '\\.')}` }),
      ],
      {
        description: `\`${SUBPROTOCOL}\`, then a single-use credential that begins \`${CREDENTIAL_PREFIX}\`. Offer both as WebSocket subprotocols, in this order. Never log them.`,
      },
    ),
    expires_at: DateTime,
    audio: SessionAudio,
    credits: SessionCredits,
  },
  'AsrSession',
);
export type AsrSession = Static<typeof AsrSession>;
