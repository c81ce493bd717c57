import { AUDIO, LIMITS, MODEL_IDS, MODELS, type ModelId, type ModelList } from '@svc-asr/protocol';
import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { networkOf } from '../network.ts';
import { limitRate } from './guard.ts';

/** GET /v1/models: public, the same for everybody. */
export function modelRoutes(app: FastifyInstance, deps: Deps): void {
  const list: ModelList = { object: 'list', data: MODEL_IDS.map(presentModel) };
  const onRequest = limitRate('models', deps.limiters.models, (request) => networkOf(request.ip));
  app.get('/v1/models', { onRequest }, () => list);
}

function presentModel(id: ModelId): ModelList['data'][number] {
  return {
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
  };
}
