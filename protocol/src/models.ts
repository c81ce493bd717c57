import { Type, type Static } from 'typebox';
import { AUDIO, LIMITS, MODEL_IDS } from './constants.ts';
import { Closed } from './schema.ts';

export const ModelIdSchema = Type.Enum([...MODEL_IDS]);

export const AudioFormat = Closed(
  {
    encoding: Type.Literal(AUDIO.encoding),
    sample_rate_hz: Type.Literal(AUDIO.sampleRateHz),
    channels: Type.Literal(AUDIO.channels),
  },
  'AudioFormat',
);

export const Model = Closed(
  {
    id: ModelIdSchema,
    object: Type.Literal('model'),
    capability: Type.Literal('asr.streaming'),
    language: Type.String({ description: 'The name of the language, for people.' }),
    language_code: Type.String({ description: 'ISO 639 code: the shortest there is.' }),
    max_audio_seconds: Type.Literal(LIMITS.audioSecondsMax),
    audio: AudioFormat,
    build: Type.Optional(
      Type.String({
        description: 'Which weights serve this id; an id never changes them silently.',
      }),
    ),
  },
  'Model',
);
export type Model = Static<typeof Model>;

export const ModelList = Closed(
  { object: Type.Literal('list'), data: Type.Array(Model) },
  'ModelList',
);
export type ModelList = Static<typeof ModelList>;
