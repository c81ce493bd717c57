import { Type, type Static } from 'typebox';
import { AUDIO, LIMITS, MODEL_IDS, MODELS } from './constants.ts';
import { Closed } from './schema.ts';

export const ModelIdSchema = Type.Enum([...MODEL_IDS], { title: 'ModelId' });

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
    language: Type.String({ description: 'The name of the language.' }),
    language_code: Type.String({ description: 'The shortest ISO 639 code.' }),
    max_audio_seconds: Type.Literal(LIMITS.audioSecondsMax),
    audio: AudioFormat,
    build: Type.Optional(
      Type.String({
        description: 'The build of the weights.',
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

/** The response of GET /v1/models. */
export const MODEL_LIST: ModelList = {
  object: 'list',
  data: MODEL_IDS.map((id) => ({
    id,
    object: 'model',
    capability: 'asr.streaming',
    language: MODELS[id].language,
    language_code: MODELS[id].languageCode,
    max_audio_seconds: LIMITS.audioSecondsMax,
    audio: {
      encoding: AUDIO.encoding,
      sample_rate_hz: AUDIO.sampleRateHz,
      channels: AUDIO.channels,
    },
  })),
};
