import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startCompatibleService, type CompatibleService } from '../compatible-service.ts';
import { encoded, RAW, SENTENCE, SPEECH_FILE } from './listen-client.ts';

const TEXT = 'nĩ wega mũno';
const WAV = readFileSync(SPEECH_FILE);
const MP3 = encoded('-f', 'mp3');
const OGG = encoded('-c:a', 'libopus', '-f', 'ogg');
const MULAW = encoded('-f', 'mulaw', '-ar', '8000');
/** MP3 adds some silence. */
const DURATION_S = expect.closeTo(SENTENCE.byteLength / 32_000, 0);

let service: CompatibleService;
beforeAll(async () => {
  service = await startCompatibleService({ emulator: { texts: [TEXT], shortestMs: 1_000 } });
});
afterAll(() => service.stop());
afterEach(() => service.emulator.faults.assertAllMet());

function post(body: Uint8Array | string, input: { query?: string; type?: string } = {}) {
  const { query = '', type = 'application/octet-stream' } = input;
  return fetch(`${service.url}/v1/listen?model=svc-asr-kikuyu-v1&${query}`, {
    method: 'POST',
    headers: { authorization: `Token ${service.emulator.apiKey}`, 'content-type': type },
    body: typeof body === 'string' ? body : Uint8Array.from(body),
  });
}

test.each([
  ['numerals=true', 'ciringi 2500', ['ciringi', '2500']],
  ['smart_format=true', 'ciringi 2500', ['ciringi', '2500']],
  ['', 'ciringi magana matano', ['ciringi', 'magana', 'matano']],
])('"%s" gives the transcript "%s"', async (query, transcript, shown) => {
  const said = query === '' ? transcript : 'ciringi ngiri igĩrĩ na magana matano';
  service.emulator.say([said]);
  const response = await post(WAV, { query });
  service.emulator.say([TEXT]);
  expect(response.headers.get('svc-ignored-parameters')).toBeNull();
  const words = shown.map((punctuated_word) => ({ punctuated_word }));
  expect(await response.json()).toMatchObject({
    results: { channels: [{ alternatives: [{ transcript, words }] }] },
  });
});

test('a file is answered in the form of Deepgram, with words and utterances', async () => {
  const response = await post(WAV, { query: 'utterances=true&punctuate=true' });
  expect(response.status).toBe(200);
  expect(response.headers.get('svc-ignored-parameters')).toBe('punctuate');
  const requestId = response.headers.get('x-request-id');
  const words = TEXT.split(' ').map((word) => expect.objectContaining({ word }));
  expect(await response.json()).toEqual({
    metadata: {
      transaction_key: 'deprecated',
      request_id: requestId,
      sha256: createHash('sha256').update(WAV).digest('hex'),
      created: expect.stringMatching(/^\d{4}-.*Z$/),
      duration: DURATION_S,
      channels: 1,
      models: [expect.any(String)],
      model_info: expect.any(Object),
    },
    results: {
      channels: [{ alternatives: [{ transcript: TEXT, confidence: expect.any(Number), words }] }],
      utterances: [
        {
          id: `${requestId}-0`,
          start: expect.any(Number),
          end: expect.any(Number),
          channel: 0,
          transcript: TEXT,
          confidence: expect.any(Number),
          words,
        },
      ],
    },
  });
});

test.each([
  ['an MP3 that claims to be WAV', MP3, '', 'audio/wav'],
  ['OGG as octet-stream', OGG, '', undefined],
  ['raw samples', SENTENCE, RAW, 'deepgram/audio+video'],
  ['raw mulaw', MULAW, 'encoding=mulaw', undefined],
  ['a WAV file whose encoding is named', WAV, RAW, 'audio/wav'],
])('takes %s', async (_name, body, query, type) => {
  const response = await post(body, { query, ...(type === undefined ? {} : { type }) });
  expect(await response.json()).toMatchObject({
    metadata: { duration: DURATION_S },
    results: { channels: [{ alternatives: [{ transcript: TEXT }] }] },
  });
});

test.each(['application/json', 'application/octet-stream'])(
  'does not fetch an address, sent as %s',
  async (type) => {
    const response = await post('\n {"url":"http://169.254.169.254/latest"}', { type });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      err_code: 'url_not_supported',
      err_msg: expect.stringMatching(/Send the audio itself/),
      request_id: response.headers.get('dg-request-id'),
    });
  },
);

test('bytes that are no audio are refused without a session', async () => {
  service.emulator.faults.arm({ name: 'no-credit', times: 1, ms: 0 });
  const response = await post(Buffer.alloc(2_000, 'hello '));
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ err_code: 'unsupported_audio_format' });
  expect((await post(WAV)).status).toBe(402);
});
