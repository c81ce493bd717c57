import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { ListenMessage } from '../../src/deepgram/messages.ts';
import { startCompatibleService, type CompatibleService } from '../compatible-service.ts';
import { encoded, ListenClient, RAW, SENTENCE, silence } from './listen-client.ts';

const TEXT = 'nĩ wega mũno';
const EVENTS = 'interim_results=true&vad_events=true';

let service: CompatibleService;
beforeAll(async () => {
  service = await startCompatibleService({ emulator: { texts: [TEXT], shortestMs: 1_000 } });
});
afterAll(() => service.stop());
afterEach(() => service.emulator.faults.assertAllMet());

function open(query = RAW, input: { path?: string; protocols?: string[] } = {}) {
  const key = service.emulator.apiKey;
  return ListenClient.open(service.url, {
    key,
    query: `model=svc-asr-kikuyu-v1&${query}`,
    ...input,
  });
}

function isFinal(message: ListenMessage): boolean {
  return message.type === 'Results' && message.is_final;
}

async function closeStream(client: ListenClient): Promise<void> {
  client.command('CloseStream');
  expect(await client.closed).toEqual({ code: 1000, reason: '' });
}

test('a turn is SpeechStarted, interim results and a final with words; then Metadata and 1000', async () => {
  const client = await open(`${RAW}&${EVENTS}&endpointing=300&punctuate=true&language_hint=luo`);
  client.sendAudio(SENTENCE);
  client.sendAudio(silence(1_000));
  await client.received((message) => message.type === 'Results' && message.speech_final);
  await closeStream(client);
  const types = client.messages.map(({ type }) => type);
  expect(types[0]).toBe('SpeechStarted');
  expect(types.at(-1)).toBe('Metadata');
  expect(types.at(-2)).toBe('Results');
  expect(client.results.some((result) => !result.is_final)).toBe(true);
  expect(client.text).toBe(TEXT);
  const words = client.finals.flatMap((result) => result.channel.alternatives[0].words);
  expect(words.map(({ word }) => word)).toEqual(TEXT.split(' '));
  const durationS = (SENTENCE.byteLength + silence(1_000).byteLength) / 32_000;
  expect(client.messages.at(-1)).toMatchObject({
    request_id: client.headers['x-request-id'],
    duration: expect.closeTo(durationS, 2),
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  expect(client.headers['svc-ignored-parameters']).toBe('punctuate, language_hint');
});

test('numerals: final results have digits, interim results and `word` the words', async () => {
  const said = 'ciringi ngiri igĩrĩ na magana matano';
  service.emulator.say([said]);
  const client = await open(`${RAW}&${EVENTS}&endpointing=300&numerals=true`);
  client.sendAudio(SENTENCE);
  client.sendAudio(silence(1_000));
  await client.received((message) => message.type === 'Results' && message.speech_final);
  await closeStream(client);
  service.emulator.say([TEXT]);
  const interim = client.results.filter((result) => !result.is_final);
  expect(interim.length).toBeGreaterThan(0);
  for (const { channel } of interim) {
    expect(said.startsWith(channel.alternatives[0].transcript)).toBe(true);
  }
  expect(client.text).toBe('ciringi 2500');
  const words = client.finals.flatMap((result) => result.channel.alternatives[0].words);
  expect(words.map(({ punctuated_word }) => punctuated_word)).toEqual(['ciringi', '2500']);
});

test('Finalize ends the utterance, and each one has exactly one answer, even without audio', async () => {
  const client = await open();
  client.command('Finalize');
  client.sendAudio(SENTENCE);
  client.command('Finalize');
  client.command('Finalize');
  await closeStream(client);
  const answers = client.finals.filter((result) => result.from_finalize);
  expect(answers).toHaveLength(3);
  expect(client.text).toBe(TEXT);
});

test('CloseStream without audio gets an empty result, Metadata and 1000', async () => {
  const client = await open();
  await closeStream(client);
  expect(client.messages.map(({ type }) => type)).toEqual(['Results', 'Metadata']);
  expect(client.finals[0]).toMatchObject({ speech_final: false, from_finalize: false });
});

test('the last text and Metadata are the last messages', async () => {
  const client = await open(`${RAW}&${EVENTS}`);
  client.sendAudio(SENTENCE);
  await closeStream(client);
  expect(client.messages.slice(-2)).toMatchObject([
    { type: 'Results', is_final: true, channel: { alternatives: [{ transcript: TEXT }] } },
    { type: 'Metadata' },
  ]);
});

test('with endpointing=false a pause ends the utterance without speech_final', async () => {
  const client = await open(`${RAW}&endpointing=false`);
  client.sendAudio(SENTENCE);
  client.sendAudio(silence(1_500));
  await client.received(isFinal);
  await closeStream(client);
  expect(client.text).toBe(TEXT);
  expect(client.results.some((result) => result.speech_final)).toBe(false);
});

test('an empty frame ends the stream as CloseStream does', async () => {
  const client = await open();
  client.sendAudio(SENTENCE);
  client.sendEmptyFrame();
  expect((await client.closed).code).toBe(1000);
  expect(client.text).toBe(TEXT);
  expect(client.messages.at(-1)).toMatchObject({ type: 'Metadata' });
});

test('the response to the handshake has the request id of the messages', async () => {
  const client = await open();
  await closeStream(client);
  const requestId = client.finals[0]?.metadata.request_id;
  expect(client.headers['dg-request-id']).toBe(requestId);
});

test('sentences that are sent at once have UtteranceEnd between them, and results without gaps', async () => {
  service.emulator.say([TEXT]);
  const client = await open(`${RAW}&${EVENTS}&utterance_end_ms=1000`);
  for (let turn = 0; turn < 3; turn += 1) {
    client.sendAudio(SENTENCE);
    client.sendAudio(silence(6_000));
  }
  await closeStream(client);
  const kinds = client.messages.flatMap((message) => {
    if (message.type === 'UtteranceEnd') return ['end'];
    const isText = message.type === 'Results' && message.is_final;
    return isText && message.channel.alternatives[0].transcript !== '' ? ['text'] : [];
  });
  expect(kinds.slice(0, 5)).toEqual(['text', 'end', 'text', 'end', 'text']);
  let end = 0;
  for (const { start, duration } of client.finals) {
    expect(start).toBeCloseTo(end, 3);
    end = start + duration;
  }
});

test('UtteranceEnd follows the last word by utterance_end_ms, once', async () => {
  const client = await open(`${RAW}&${EVENTS}&utterance_end_ms=1000`);
  client.sendAudio(SENTENCE);
  client.sendAudio(silence(1_500));
  const end = await client.received(({ type }) => type === 'UtteranceEnd');
  await closeStream(client);
  const last = client.finals.flatMap((result) => result.channel.alternatives[0].words).at(-1);
  expect(end).toMatchObject({ channel: [0, 1], last_word_end: last?.end });
  expect(client.messages.filter(({ type }) => type === 'UtteranceEnd')).toHaveLength(1);
});

test.each([
  [
    'linear16 at 44.1 kHz, stereo',
    'encoding=linear16&sample_rate=44100&channels=2',
    ['-f', 's16le', '-ar', '44100', '-ac', '2'],
  ],
  ['linear16 at 8 kHz', 'encoding=linear16&sample_rate=8000', ['-f', 's16le', '-ar', '8000']],
  ['mulaw', 'encoding=mulaw&sample_rate=8000', ['-f', 'mulaw', '-ar', '8000']],
  ['alaw', 'encoding=alaw', ['-f', 'alaw', '-ar', '8000']],
  ['OGG/Opus', 'encoding=opus', ['-c:a', 'libopus', '-f', 'ogg']],
  ['WebM/Opus', '', ['-c:a', 'libopus', '-f', 'webm']],
] as const)('takes %s', async (_name, query, format) => {
  const client = await open(query);
  client.sendAudio(encoded(...format), 1_001);
  await closeStream(client);
  expect(client.text).toBe(TEXT);
  const metadata = client.messages.at(-1);
  expect(metadata).toMatchObject({ duration: expect.closeTo(SENTENCE.byteLength / 32_000, 1) });
});

test('frames may be cut inside a sample', async () => {
  const client = await open(RAW);
  client.sendAudio(SENTENCE, 1_001);
  await closeStream(client);
  expect(client.text).toBe(TEXT);
  const durationS = SENTENCE.byteLength / 32_000;
  expect(client.messages.at(-1)).toMatchObject({ duration: expect.closeTo(durationS, 3) });
});

test('WebM is decoded while it is recorded', async () => {
  const client = await open('interim_results=true');
  const note = encoded('-c:a', 'libopus', '-f', 'webm');
  const most = note.byteLength - 500;
  client.sendAudio(note.subarray(0, most), 400);
  // The rest is sent only after the first words were recognised.
  await client.received((message) => message.type === 'Results' && !message.is_final);
  client.sendAudio(note.subarray(most), 400);
  await closeStream(client);
  expect(client.text).toBe(TEXT);
});

test('bytes that are no audio end the socket with the reason', async () => {
  const client = await open('');
  client.sendAudio(Buffer.alloc(2_000, 'hello '));
  expect(await client.closed).toMatchObject({
    code: 1008,
    reason: expect.stringMatching(/^unsupported_audio_format: The /),
  });
  expect(client.messages).toMatchObject([{ type: 'Error', variant: 'unsupported_audio_format' }]);
});

test('KeepAlive has no answer, and Configure has one', async () => {
  const client = await open();
  client.command('KeepAlive');
  client.command('Configure', { features: { numerals: true } });
  client.command('Configure', { keyterms: ['Mũgũnda', '3G'] });
  await client.received((message) => message.type === 'ConfigureSuccess' && 'keyterms' in message);
  client.command('Configure', { keyterms: ['3G'] });
  await client.received(({ type }) => type === 'ConfigureFailure');
  const request_id = client.headers['x-request-id'];
  expect(client.messages).toEqual([
    { type: 'ConfigureSuccess', request_id },
    { type: 'ConfigureSuccess', request_id, keyterms: ['mũgũnda'] },
    {
      type: 'ConfigureFailure',
      request_id,
      code: 'CONFIGURE_KEYTERMS_INVALID',
      error_code: 'CONFIGURE_KEYTERMS_INVALID',
      description: expect.any(String),
    },
  ]);
  await closeStream(client);
});

test('keyterms of the query are in force, and not named as ignored', async () => {
  const client = await open(`${RAW}&${EVENTS}&keyterm=Wanjir%C5%A9&keywords=Otieno&keyterm=3G`);
  expect(client.headers['svc-ignored-parameters']).toBeUndefined();
  client.sendAudio(SENTENCE);
  await client.received((message) => message.type === 'Results');
  client.command('Configure', {});
  await client.received(({ type }) => type === 'ConfigureSuccess');
  expect(client.messages.find(({ type }) => type === 'ConfigureSuccess')).toMatchObject({
    keyterms: ['wanjirũ', 'otieno'],
  });
  await closeStream(client);
});

test('a model without keyterms works as without them; Configure fails, and a POST names them', async () => {
  const other = await startCompatibleService({
    emulator: { texts: [TEXT], shortestMs: 1_000, keyterms: false },
  });
  const key = other.emulator.apiKey;
  const query = `model=svc-asr-kikuyu-v1&${RAW}&keyterm=Wanjir%C5%A9`;
  const client = await ListenClient.open(other.url, { key, query });
  client.command('Configure', { keyterms: ['Otieno'] });
  await client.received(({ type }) => type === 'ConfigureFailure');
  expect(client.messages).toMatchObject([{ code: 'CONFIGURE_KEYTERMS_NOT_SUPPORTED' }]);
  client.sendAudio(SENTENCE);
  await closeStream(client);
  expect(client.text).toBe(TEXT);
  const response = await fetch(`${other.url}/v1/listen?${query}`, {
    method: 'POST',
    headers: { authorization: `Token ${key}` },
    body: Uint8Array.from(SENTENCE),
  });
  expect(response.headers.get('svc-ignored-parameters')).toBe('keyterm');
  await other.stop();
});

test('unknown messages are named, and the eleventh ends the socket', async () => {
  const client = await open();
  const wrong = ['', '{', '[]', 'null', '{"type":"Close"}', `{"type":"${'x'.repeat(20_000)}"}`];
  for (const text of wrong) client.sendText(text);
  client.sendAudio(SENTENCE);
  client.command('Finalize');
  await client.received(isFinal);
  expect(client.messages.filter(({ type }) => type === 'Error')).toHaveLength(wrong.length);
  expect(client.text).toBe(TEXT);
  for (let more = wrong.length; more < 11; more += 1) client.sendText('{');
  expect(await client.closed).toMatchObject({ code: 1008 });
});

test.each(['restart', 'connection-lost', 'engine-crash'] as const)(
  'the transcript survives %s in mid-speech',
  async (name) => {
    service.emulator.faults.arm({ name, ms: 1_200, times: 1 });
    const client = await open(`${RAW}&${EVENTS}`);
    client.sendAudio(SENTENCE);
    await closeStream(client);
    expect(client.text).toBe(TEXT);
  },
);

test('the path names the language, and the key may be a subprotocol', async () => {
  const { apiKey } = service.emulator;
  const client = await ListenClient.open(service.url, {
    path: '/luo/v1/listen',
    query: `model=nova-3&language=en-US&${RAW}`,
    protocols: ['token', apiKey],
  });
  expect(client.protocol).toBe('token');
  expect(client.headers['svc-ignored-parameters']).toBe('language');
  client.sendAudio(SENTENCE);
  await closeStream(client);
  expect(client.finals[0]?.metadata.model_info.name).toBe('svc-asr-dholuo-v1');
});

test('a client that reconnects gets its session when the old connection is gone', async () => {
  const first = await open();
  first.sendAudio(SENTENCE);
  const second = open();
  first.drop();
  const client = await second;
  client.sendAudio(SENTENCE);
  await closeStream(client);
  expect(client.text).toBe(TEXT);
});
