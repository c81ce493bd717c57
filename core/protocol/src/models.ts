import { Type, type Static } from 'typebox';
import { AUDIO, LIMITS, MODEL_IDS, MODELS } from './constants.ts';
import { Closed, constant } from './schema.ts';

export const ModelIdSchema = Type.Enum([...MODEL_IDS], {
  title: 'ModelId',
  description: 'The id of a model. It fixes the language.',
});

/** The only audio format, field by field. */
export const AUDIO_FIELDS = {
  encoding: constant(AUDIO.encoding, 'Signed 16-bit little-endian PCM without a header.'),
  sample_rate_hz: constant(AUDIO.sampleRateHz, 'Samples a second. Resample other audio first.'),
  channels: constant(AUDIO.channels, 'Mono.'),
};

export const AudioFormat = Closed(
  AUDIO_FIELDS,
  'AudioFormat',
  'The only audio format that streams accept.',
);

export const Model = Closed(
  {
    id: ModelIdSchema,
    object: constant('model', 'The type of the object.'),
    capability: constant('asr.streaming', 'What the model does: it transcribes streams.'),
    language: Type.String({ description: 'The name of the language.' }),
    language_code: Type.String({ description: 'The shortest ISO 639 code of the language.' }),
    max_audio_seconds: constant(LIMITS.audioSecondsMax, 'The most audio that a session may have.'),
    audio: AudioFormat,
    build: Type.Optional(
      Type.String({
        description:
          'The build of the weights. Reserved: never sent, because streaming nodes may serve different ones.',
      }),
    ),
  },
  'Model',
  'A model that sessions can use.',
);
export type Model = Static<typeof Model>;

export const ModelList = Closed(
  {
    object: constant('list', 'The type of the object.'),
    data: Type.Array(Model, { description: 'All models.' }),
  },
  'ModelList',
  'The models of the service.',
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
