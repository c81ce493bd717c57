import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { encode, FORMATS, SPEECH_MS } from '@svc-asr/testing/speech/audio-files.ts';
import { startCompatibleService, type CompatibleService } from './compatible-service.ts';

const TEXT = 'nĩ wega mũno';

let service: CompatibleService;
let wav: Buffer;
beforeAll(async () => {
  service = await startCompatibleService();
  wav = await encode('wav');
});
afterAll(() => service.stop());
beforeEach(() => service.emulator.say([TEXT]));

type Entry = readonly [string, string | Buffer];

/** Posts a form whose fields have this order. A buffer is the file. */
async function post(
  entries: readonly Entry[],
  path = '/v1/audio/transcriptions',
): Promise<Response> {
  const form = new FormData();
  for (const [name, value] of entries) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, new Blob([new Uint8Array(value)]), 'speech.bin');
  }
  const headers = { authorization: `Bearer ${service.emulator.apiKey}` };
  return fetch(service.url + path, { method: 'POST', headers, body: form });
}

const MODEL: Entry = ['model', 'svc-asr-kikuyu-v1'];

test.each(Object.keys(FORMATS))('transcribes %s', async (ending) => {
  const file = await encode(ending);
  const response = await post([MODEL, ['file', file], ['response_format', 'verbose_json']]);
  expect(response.status).toBe(200);
  const body = await response.json();
  expect(body).toMatchObject({ task: 'transcribe', language: 'kikuyu', text: TEXT });
  // Some codecs add a frame of silence.
  expect(Math.abs(body.duration * 1000 - SPEECH_MS)).toBeLessThan(150);
});

test.each([
  ['json', 'application/json; charset=utf-8', `{"text":"${TEXT}","usage":`],
  ['text', 'text/plain; charset=utf-8', `${TEXT}\n`],
  ['srt', 'text/plain; charset=utf-8', `1\n00:00:00,`],
  ['vtt', 'text/vtt; charset=utf-8', 'WEBVTT\n\n00:00:00.'],
])('response_format %s has the type %s', async (format, type, start) => {
  const response = await post([MODEL, ['response_format', format], ['file', wav]]);
  expect(response.headers.get('content-type')).toBe(type);
  const body = await response.text();
  expect(body.startsWith(start)).toBe(true);
  expect(body).toContain(TEXT);
});

test('verbose_json has segments by default, and words on request', async () => {
  const verbose: Entry = ['response_format', 'verbose_json'];
  const segments = await (await post([MODEL, verbose, ['file', wav]])).json();
  expect(segments).toMatchObject({ segments: [{ id: 0, text: TEXT }] });
  expect(segments).not.toHaveProperty('words');
  service.emulator.say([TEXT]);
  const granularity: Entry = ['timestamp_granularities[]', 'word'];
  const words = await (await post([MODEL, verbose, granularity, ['file', wav]])).json();
  expect(words).not.toHaveProperty('segments');
  expect(words.words.map(({ word }: { word: string }) => word)).toEqual(TEXT.split(' '));
  for (const { start, end } of words.words) {
    expect(start).toBeLessThan(end);
    expect(end).toBeLessThanOrEqual(SPEECH_MS / 1000);
  }
});

test.each([
  ['the file first', [['file', 'FILE'], MODEL, ['response_format', 'text']]],
  ['the format last', [MODEL, ['file', 'FILE'], ['response_format', 'text']]],
  [
    'the language last',
    [
      ['model', 'whisper-1'],
      ['file', 'FILE'],
      ['response_format', 'text'],
      ['language', 'ki'],
    ],
  ],
] satisfies [string, Entry[]][])('takes fields in any order: %s', async (_name, entries) => {
  const form = entries.map(([name, value]): Entry => [name, value === 'FILE' ? wav : value]);
  const response = await post(form);
  expect(await response.text()).toBe(`${TEXT}\n`);
});

test('a prefix of the path names the language of an alias', async () => {
  const verbose: Entry = ['response_format', 'verbose_json'];
  const form: Entry[] = [['file', wav], ['model', 'whisper-1'], ['language', 'en'], verbose];
  const response = await post(form, '/luo/v1/audio/transcriptions');
  expect(await response.json()).toMatchObject({ language: 'dholuo', text: TEXT });
  expect(response.headers.get('svc-ignored-parameters')).toBe('language');
});

test.each([
  ['before the file', [MODEL, ['stream', 'true'], ['file', 'FILE']]],
  ['after the file', [MODEL, ['file', 'FILE'], ['stream', 'true']]],
  ['after a file that is first', [['file', 'FILE'], MODEL, ['stream', 'true']]],
] satisfies [string, Entry[]][])(
  'stream=true %s sends the transcript as events that OpenAI clients add up',
  async (_name, entries) => {
    service.emulator.say([TEXT]);
    const form = entries.map(([name, value]): Entry => [name, value === 'FILE' ? wav : value]);
    const response = await post(form);
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const events = (await response.text()).split('\n\n').filter(Boolean);
    expect(events.at(-1)).toBe('data: [DONE]');
    const [delta, done] = events.slice(0, -1).map((event) => JSON.parse(event.slice(6)));
    expect(delta).toEqual({ type: 'transcript.text.delta', delta: TEXT });
    expect(done).toMatchObject({ type: 'transcript.text.done', text: TEXT });
  },
);

test('parameters without effect are named once in a header', async () => {
  const response = await post([
    MODEL,
    ['temperature', '0'],
    ['prompt', 'hello'],
    ['prompt', 'again'],
    ['bad\r\nname', 'x'],
    ['file', wav],
  ]);
  expect(response.status).toBe(200);
  expect(response.headers.get('svc-ignored-parameters')).toBe('temperature, prompt');
});

test.each([
  [
    'no language',
    [
      ['model', 'whisper-1'],
      ['file', 'FILE'],
    ],
    400,
    'missing_language',
  ],
  [
    'another language',
    [
      ['model', 'whisper-1'],
      ['language', 'en'],
      ['file', 'FILE'],
    ],
    400,
    'unsupported_language',
  ],
  ['two languages', [MODEL, ['language', 'luo'], ['file', 'FILE']], 400, 'language_contradiction'],
  [
    'a language that contradicts after the file',
    [MODEL, ['file', 'FILE'], ['language', 'luo']],
    400,
    'language_contradiction',
  ],
  [
    'an unknown model',
    [
      ['model', 'llama'],
      ['file', 'FILE'],
    ],
    404,
    'model_not_found',
  ],
  [
    'speakers',
    [MODEL, ['response_format', 'diarized_json'], ['file', 'FILE']],
    400,
    'unsupported_response_format',
  ],
  ['no file', [MODEL], 400, 'missing_file'],
  [
    'no model',
    [
      ['file', 'FILE'],
      ['language', 'ki'],
    ],
    400,
    'missing_required_parameter',
  ],
  [
    'an unknown granularity',
    [MODEL, ['timestamp_granularities[]', 'letter'], ['file', 'FILE']],
    400,
    'invalid_value',
  ],
  ['a file that is not audio', [MODEL, ['file', '<html></html>']], 400, 'unsupported_audio_format'],
] satisfies [string, Entry[], number, string][])(
  '%s is refused in the form of OpenAI',
  async (_name, entries, status, code) => {
    const form = entries.map(([name, value]): Entry => [name, value === 'FILE' ? wav : value]);
    const response = await post(form);
    expect(response.status).toBe(status);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(await response.json()).toMatchObject({
      error: { type: 'invalid_request_error', code, message: expect.stringMatching(/\.$/) },
    });
  },
);

test('granularities without verbose_json are named as ignored', async () => {
  const response = await post([MODEL, ['timestamp_granularities[]', 'word'], ['file', wav]]);
  expect(response.status).toBe(200);
  expect(response.headers.get('svc-ignored-parameters')).toBe('timestamp_granularities');
});

test.each([
  ['no-credit', 402, { type: 'insufficient_quota', code: 'insufficient_quota' }],
  ['revoked', 401, { type: 'invalid_request_error', code: 'invalid_api_key' }],
] as const)('%s has the type and code that OpenAI publishes', async (name, status, error) => {
  if (name === 'no-credit') service.emulator.faults.arm({ name, ms: 0, times: 1 });
  const key = name === 'revoked' ? 'svc_live_v1_wrong' : service.emulator.apiKey;
  const form = new FormData();
  form.append('model', 'svc-asr-kikuyu-v1');
  form.append('file', new Blob([new Uint8Array(wav)]), 'speech.wav');
  const response = await fetch(`${service.url}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: form,
  });
  expect(response.status).toBe(status);
  expect(response.headers.get('x-should-retry')).toBe('false');
  expect(await response.json()).toMatchObject({ error });
});

test('translations are refused with what to do instead', async () => {
  const response = await post([MODEL, ['file', wav]], '/v1/audio/translations');
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ error: { code: 'translation_not_supported' } });
});
