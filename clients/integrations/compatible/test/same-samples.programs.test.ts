import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { VoiceGate } from '@svc-asr/sdk/audio';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import {
  startRecordingService,
  type RecordedUtterance,
  type RecordingService,
} from '@svc-asr/testing/speech/recording-service.ts';
import { wavOf } from '@svc-asr/testing/speech/wav.ts';
import { WebSocket } from 'ws';
import { DEFAULT_CONFIG, DOORS, startCompatible, type CompatibleServer } from '../src/index.ts';

/** Every door gives the recogniser the same samples of a recording, so that no door changes the text. */

const TURN_SILENCE_MS = 700;
const RAW = 'encoding=linear16&sample_rate=16000';
/** Two sentences of several seconds, with a pause that is not sent as a whole. */
const PCM = Buffer.concat([
  Buffer.from(speech('kikuyu-2').pcm),
  Buffer.alloc(2_500 * 32),
  Buffer.from(speech('kikuyu-2').pcm),
  Buffer.alloc(1_500 * 32),
]);
const WAV = wavOf(PCM);

let service: RecordingService;
let server: CompatibleServer;
let first: readonly RecordedUtterance[];
beforeAll(async () => {
  service = await startRecordingService();
  const { SVC_BASE_URL: baseUrl = '' } = service.env;
  server = await startCompatible(
    { ...DEFAULT_CONFIG, port: 0, baseUrl },
    { doors: DOORS, log: () => undefined },
  );
  await uploadToOpenAi();
  first = await service.take();
});
afterAll(async () => {
  await server.stop();
  await service.stop();
});

function headers(scheme: 'Bearer' | 'Token'): { authorization: string } {
  return { authorization: `${scheme} ${service.env['SVC_API_KEY']}` };
}

async function uploadToOpenAi(): Promise<void> {
  const form = new FormData();
  form.append('model', 'svc-asr-kikuyu-v1');
  form.append('file', new Blob([new Uint8Array(WAV)]), 'speech.wav');
  const url = `${server.url}/v1/audio/transcriptions`;
  const response = await fetch(url, { method: 'POST', headers: headers('Bearer'), body: form });
  expect(response.status, await response.text()).toBe(200);
}

async function postToDeepgram(query: string, body: Buffer): Promise<void> {
  const url = `${server.url}/v1/listen?language=ki&${query}`;
  const request = { method: 'POST', headers: headers('Token'), body: new Uint8Array(body) };
  const response = await fetch(url, request);
  expect(response.status, await response.text()).toBe(200);
}

async function streamToDeepgram(query: string, bytes: Buffer, frameBytes: number): Promise<void> {
  const url = `${server.url.replace('http', 'ws')}/v1/listen?language=ki&${query}`;
  const socket = new WebSocket(url, { headers: headers('Token') });
  await once(socket, 'open');
  for (let at = 0; at < bytes.byteLength; at += frameBytes) {
    socket.send(bytes.subarray(at, at + frameBytes));
  }
  socket.send('{"type":"CloseStream"}');
  const [code] = await once(socket, 'close');
  expect(code).toBe(1000);
}

/** The samples that the voice gate of the SDK passes. */
function gated(): number[] {
  const gate = new VoiceGate({ holdMs: TURN_SILENCE_MS });
  const outputs = [...gate.push(new Int16Array(Uint8Array.from(PCM).buffer)), ...gate.end()];
  return outputs.flatMap((output) => (output.do === 'send' ? [...output.samples] : []));
}

function summary(utterances: readonly RecordedUtterance[]): object[] {
  return utterances.map(({ samples, text }) => ({
    text,
    length: samples.length,
    // The whole would make a diff that nobody reads.
    sum: samples.reduce((sum, sample, at) => (sum + sample * ((at % 997) + 1)) % 1_000_003, 0),
  }));
}

test('a file at the OpenAI door reaches the recogniser as the voice gate passes it', () => {
  const samples = first.flatMap((utterance) => [...utterance.samples]);
  const expected = gated();
  expect(samples.length).toBe(expected.length);
  expect(samples.findIndex((sample, at) => sample !== expected[at])).toBe(-1);
  expect(first.filter(({ text }) => text !== '')).toHaveLength(2);
});

test.each([
  ['a file at the Deepgram door', () => postToDeepgram('', WAV)],
  ['a file with a named encoding', () => postToDeepgram(RAW, WAV)],
  ['samples in a POST', () => postToDeepgram(RAW, PCM)],
  ['samples in frames of 20 ms', () => streamToDeepgram(RAW, PCM, 640)],
  ['samples in odd frames', () => streamToDeepgram(RAW, PCM, 7_777)],
  ['samples in one frame', () => streamToDeepgram(RAW, PCM, PCM.byteLength)],
  ['a WAV file in a socket', () => streamToDeepgram('', WAV, 3_200)],
  ['a WAV file in a socket with a named encoding', () => streamToDeepgram(RAW, WAV, 3_200)],
])(
  '%s reaches the recogniser sample by sample as at the OpenAI door, with the same turns and text',
  async (_, send) => {
    await send();
    expect(summary(await service.take())).toEqual(summary(first));
  },
);
