import { assembleApiKey } from '@svc-asr/runtime/api-key.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { NO_FFMPEG, startCompatibleService, type CompatibleService } from './compatible-service.ts';

let service: CompatibleService;
beforeAll(async () => {
  service = await startCompatibleService({ config: NO_FFMPEG });
});
afterAll(() => service.stop());

function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(service.url + path, { headers });
}

test.each(['/v1/models', '/ki/v1/models', '/luo/v1/models'])(
  'GET %s lists our models in the form of OpenAI',
  async (path) => {
    const response = await get(path, { authorization: `Bearer ${service.emulator.apiKey}` });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      object: 'list',
      data: [
        { id: 'svc-asr-kikuyu-v1', object: 'model', owned_by: 'svc-asr' },
        { id: 'svc-asr-dholuo-v1', object: 'model', owned_by: 'svc-asr' },
      ],
    });
  },
);

test('GET /v1/models/ID returns one model', async () => {
  const headers = { authorization: `Bearer ${service.emulator.apiKey}` };
  const response = await get('/v1/models/svc-asr-dholuo-v1', headers);
  expect(await response.json()).toMatchObject({ id: 'svc-asr-dholuo-v1', object: 'model' });
});

test.each([
  ['no key', {}, 'missing_api_key'],
  ['a key with a wrong checksum', { authorization: 'Bearer svc_live_v1_x' }, 'invalid_api_key'],
  [
    'a key that the service does not know',
    { authorization: `Bearer ${assembleApiKey('0'.repeat(12), '0'.repeat(32))}` },
    'invalid_api_key',
  ],
])('%s is refused with 401 in the form of OpenAI', async (_name, headers, ours) => {
  const response = await get('/v1/models', headers);
  expect(response.status).toBe(401);
  expect(response.headers.get('x-should-retry')).toBe('false');
  const { error } = await response.json();
  expect(error).toMatchObject({ type: 'invalid_request_error', code: 'invalid_api_key' });
  expect(error.message).toMatch(/key/);
  expect(error.svc_code ?? error.code).toBe(ours);
});
