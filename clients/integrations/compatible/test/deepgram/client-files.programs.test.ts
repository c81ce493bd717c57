import { readFileSync } from 'node:fs';
import { DeepgramClient } from '@deepgram/sdk';
import { initializeLogger } from '@livekit/agents';
import { STT } from '@livekit/agents-plugin-deepgram';
import { AudioFrame } from '@livekit/rtc-node';
import { createClient } from 'deepgram-sdk-4';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startCompatibleService, type CompatibleService } from '../compatible-service.ts';
import { SENTENCE, SPEECH_FILE } from './listen-client.ts';

/** Deepgram's clients, unmodified, with files. Their live sockets are in `npm run prove -- compatible`. */
const MODEL = 'svc-asr-kikuyu-v1';
const TEXT = 'nĩ wega mũno';
const WAV = readFileSync(SPEECH_FILE);

let service: CompatibleService;
beforeAll(async () => {
  initializeLogger({ pretty: false, level: 'silent' });
  service = await startCompatibleService({ emulator: { texts: [TEXT], shortestMs: 1_000 } });
});
afterAll(() => service.stop());
afterEach(() => service.emulator.faults.assertAllMet());

function version5(): DeepgramClient {
  const { url, emulator } = service;
  const sockets = url.replace(/^http/, 'ws');
  const environment = { base: url, production: sockets, agent: sockets, agentRest: url };
  return new DeepgramClient({ apiKey: emulator.apiKey, environment, maxRetries: 0 });
}

function version4() {
  const { url, emulator } = service;
  return createClient(emulator.apiKey, { global: { fetch: { options: { url } } } });
}

function shown(transcript: string) {
  return { results: { channels: [{ alternatives: [{ transcript }] }] } };
}

test('@deepgram/sdk 5 transcribes a file', async () => {
  const answer = await version5().listen.v1.media.transcribeFile(WAV, { model: MODEL });
  expect(answer).toMatchObject({
    metadata: { request_id: expect.any(String) },
    results: { channels: [{ alternatives: [{ transcript: TEXT }] }] },
  });
});

test('@deepgram/sdk 5 shows our sentence for an account without credit', async () => {
  service.emulator.faults.arm({ name: 'no-credit', times: 1, ms: 0 });
  const answer = version5().listen.v1.media.transcribeFile(WAV, { model: MODEL });
  await expect(answer).rejects.toThrow(/audio credit is left/);
});

test('@deepgram/sdk 5 shows why an address is refused', async () => {
  const url = 'https://example.org/speech.wav';
  const answer = version5().listen.v1.media.transcribeUrl({ url, model: MODEL });
  await expect(answer).rejects.toThrow(/Send the audio itself/);
});

test('@deepgram/sdk 5 and 4 show digits with numerals and smart_format, and words without', async () => {
  const said = 'ciringi ngiri igĩrĩ na magana matano';
  service.emulator.say([said]);
  const media = version5().listen.v1.media;
  const files = version4().listen.prerecorded;
  const [numerals, plain] = await Promise.all(
    [{ numerals: true }, {}].map((option) =>
      media.transcribeFile(WAV, { model: MODEL, ...option }),
    ),
  );
  const { result } = await files.transcribeFile(WAV, { model: MODEL, smart_format: true });
  service.emulator.say([TEXT]);
  expect(numerals).toMatchObject(shown('ciringi 2500'));
  expect(result).toMatchObject(shown('ciringi 2500'));
  expect(plain).toMatchObject(shown(said));
});

test('@deepgram/sdk 4 transcribes a file', async () => {
  const { result, error } = await version4().listen.prerecorded.transcribeFile(WAV, {
    model: MODEL,
    smart_format: true,
  });
  expect(error).toBeNull();
  expect(result?.results.channels[0]?.alternatives[0]?.transcript).toBe(TEXT);
});

test('@deepgram/sdk 4 shows our sentence for an account without credit', async () => {
  service.emulator.faults.arm({ name: 'no-credit', times: 1, ms: 0 });
  const { error } = await version4().listen.prerecorded.transcribeFile(WAV, { model: MODEL });
  expect(error?.message).toMatch(/audio credit is left/);
});

test("LiveKit's plugin recognises a buffer", async () => {
  const { url, emulator } = service;
  const baseUrl = url.replace(/^http/, 'ws');
  const speech = new STT({ apiKey: emulator.apiKey, model: MODEL, baseUrl });
  const samples = new Int16Array(Uint8Array.from(SENTENCE).buffer);
  const frame = new AudioFrame(samples, 16_000, 1, samples.length);
  const { alternatives } = await speech.recognize(frame);
  expect(alternatives?.[0].text).toBe(TEXT);
});
