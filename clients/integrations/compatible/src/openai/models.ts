import { MODEL_IDS } from '@svc-asr/protocol/constants.ts';
import type { Door } from '../door.ts';

/** When the models were published, which clients sort by. */
const CREATED_S = 1_763_251_200;
const ENTRIES = MODEL_IDS.map((id) => ({
  id,
  object: 'model' as const,
  created: CREATED_S,
  owned_by: 'svc-asr',
}));
const BASE = '/v1/models';

/**
 * `GET /v1/models` and `/v1/models/ID`. Programs call it to check their key, so the service is asked whether it accepts
 * the key.
 */
export const models: Door = {
  name: 'models',
  api: 'openai',
  paths: [BASE, ...MODEL_IDS.map((id) => `${BASE}/${id}`)],
  handle: {
    async GET({ response, path, caller, signal }) {
      await caller.client.usage.get({ signal });
      const one = ENTRIES.find(({ id }) => path === `${BASE}/${id}`);
      response.setHeader('content-type', 'application/json; charset=utf-8');
      response.end(JSON.stringify(one ?? { object: 'list', data: ENTRIES }));
    },
  },
};
