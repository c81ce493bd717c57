import { startEmulator, type Emulator } from '@svc-asr/emulator';
import { SvcClient } from '@svc-asr/sdk';
import { VoiceGate } from '@svc-asr/sdk/audio';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startBridge, type Bridge, type BridgeOptions, type CallEvent } from '../src/index.ts';
import {
  asteriskCall,
  asteriskSentence,
  freeSwitchCall,
  jambonzCall,
  sendSentence,
  sentence,
  twilioCall,
} from './calls.ts';
import { noisyLine } from './noisy-line.ts';

const TEXT = 'ũhoro waku';
/** core/models/fixtures/kikuyu-1.wav */
const SPEECH_MS = 2_941;

let emulator: Emulator;
let bridge: Bridge;
let events: CallEvent[] = [];
beforeAll(async () => {
  emulator = await startEmulator({ texts: [TEXT], concurrency: 4, shortestMs: 1_000 });
});
afterAll(() => emulator.stop());
afterEach(async () => {
  await bridge.stop();
  emulator.faults.assertAllMet();
});

async function bridgeWith(options: Partial<BridgeOptions> = {}): Promise<Bridge> {
  events = [];
  const client = new SvcClient({ baseUrl: emulator.url, apiKey: emulator.apiKey });
  bridge = await startBridge({
    client,
    model: 'svc-asr-kikuyu-v1',
    onEvent: (event) => events.push(event),
    ...options,
  });
  return bridge;
}

async function untilEnded(legs: number): Promise<void> {
  await expect.poll(endedLegs).toBe(legs);
}

function endedLegs(): number {
  return events.filter((event) => event.type === 'ended').length;
}

function finals(leg: string) {
  return events.filter((event) => event.type === 'final' && event.leg === leg);
}

test('Twilio: each track is a leg with its own labelled transcript, and digits are passed on', async () => {
  const { url } = await bridgeWith();
  await twilioCall(`${url}/twilio`, ['inbound', 'outbound']);
  await untilEnded(2);
  for (const leg of ['inbound', 'outbound']) {
    expect(finals(leg)).toMatchObject([{ call: expect.stringMatching(/^CA/), text: TEXT }]);
  }
  expect(events.find((event) => event.type === 'dtmf')).toMatchObject({ digit: '5' });
  expect(events.filter((event) => event.type === 'ended')).toMatchObject([
    { reason: 'completed' },
    { reason: 'completed' },
  ]);
});

test('Asterisk: a recorded AudioSocket call gives a transcript, a digit, and ends with the hang-up', async () => {
  const { audioSocketPort } = await bridgeWith({ audioSocket: { port: 0 } });
  await asteriskCall(audioSocketPort ?? 0);
  await untilEnded(1);
  expect(finals('caller')).toMatchObject([
    { call: '3f1c9a5e-6b0d-4a55-9d8e-2f4b7c1a9e01', text: TEXT },
  ]);
  expect(events.find((event) => event.type === 'dtmf')).toMatchObject({ digit: '7' });
});

test('FreeSWITCH: a stereo fork is two legs, and transcripts go back to the switch', async () => {
  const { url } = await bridgeWith();
  const answers = await freeSwitchCall(`${url}/freeswitch?rate=16000&channels=2`, 2);
  await untilEnded(2);
  expect(finals('caller')).toHaveLength(1);
  expect(finals('callee')).toHaveLength(1);
  expect(answers).toContainEqual({
    type: 'transcription',
    data: { leg: 'caller', is_final: true, transcript: TEXT },
  });
  expect(events.find((event) => event.type === 'dtmf')).toMatchObject({ digit: '9' });
});

test('jambonz: interim and final transcriptions in its form, then the socket closes', async () => {
  const { url } = await bridgeWith({ token: 'secret-token' });
  const answers = await jambonzCall(`${url}/jambonz/secret-token`);
  const final = {
    type: 'transcription',
    is_final: true,
    language: 'ki-KE',
    channel: 1,
    alternatives: [{ transcript: TEXT, confidence: 1 }],
  };
  expect(answers.at(-1)).toEqual(final);
  expect(answers[0]).toMatchObject({ type: 'transcription', is_final: false });
});

test.each(['engine-crash', 'restart', 'connection-lost', 'unavailable'] as const)(
  '%s during a call: the transcript covers all of the speech',
  async (name) => {
    emulator.faults.arm({ name, ms: 1_000, times: 1 });
    const { url } = await bridgeWith();
    await twilioCall(`${url}/twilio`, ['inbound']);
    await untilEnded(1);
    const [final, ...more] = finals('inbound');
    expect(more).toEqual([]);
    if (final?.type !== 'final') throw new Error('There is no final.');
    expect(final.end_ms - final.start_ms).toBeGreaterThan(SPEECH_MS * 0.85);
  },
);

test('utterances end in the pauses of a line whose noise is 10 dB below the speech', async () => {
  const { samples, pauses } = noisyLine(['kikuyu-1', 'kikuyu-2'], 10);
  // To the gate the first pause is still speech, so only the service can end the utterance.
  const gate = new VoiceGate({ holdMs: 700 });
  gate.push(samples.subarray(0, (pauses[0]?.endMs ?? 0) * 16));
  expect(gate.isOpen).toBe(true);
  const { url } = await bridgeWith();
  await twilioCall(`${url}/twilio`, ['inbound'], { pcm: samples });
  await untilEnded(1);
  const ends = finals('inbound').map((event) => (event.type === 'final' ? event.end_ms : 0));
  expect(ends).toHaveLength(pauses.length);
  for (const [at, { startMs, endMs }] of pauses.entries()) {
    // The recordings end with a little silence.
    expect(ends[at]).toBeGreaterThan(startMs + 350);
    expect(ends[at]).toBeLessThan(endMs - 300);
  }
});

test("Twilio's timestamps end an utterance at a gap of the packets, and keep the times true", async () => {
  const { url } = await bridgeWith();
  const once = sentence();
  const pcm = new Int16Array([...once, ...once]);
  const gap = { afterMs: SPEECH_MS, ms: 8_000 };
  await twilioCall(`${url}/twilio`, ['inbound'], { pcm, gap });
  await untilEnded(1);
  const starts = finals('inbound').map((event) => (event.type === 'final' ? event.start_ms : 0));
  expect(starts).toHaveLength(2);
  expect(Math.abs((starts[1] ?? 0) - (starts[0] ?? 0) - SPEECH_MS - gap.ms)).toBeLessThan(500);
  // Only received audio is counted.
  const ended = events.find((event) => event.type === 'ended');
  expect(ended?.type === 'ended' && ended.audio_ms).toBeLessThan(2 * SPEECH_MS + 100);
});

test('when the packets of a call stop, the clock ends the utterance and measures the pause', async () => {
  const { audioSocketPort } = await bridgeWith({ audioSocket: { port: 0 } });
  const socket = await asteriskSentence(audioSocketPort ?? 0);
  await expect.poll(() => finals('caller').length).toBe(1);
  sendSentence(socket);
  await expect.poll(() => finals('caller').length).toBe(2);
  const starts = finals('caller').map((event) => (event.type === 'final' ? event.start_ms : 0));
  // The pause lasted at least the 700 ms that end an utterance.
  expect((starts[1] ?? 0) - (starts[0] ?? 0)).toBeGreaterThan(SPEECH_MS + 500);
  socket.destroy();
  await untilEnded(1);
});

test('without credit the leg ends with that reason, and the bridge serves the next call', async () => {
  emulator.faults.arm({ name: 'no-credit', ms: 0, times: 1 });
  const { url } = await bridgeWith();
  await twilioCall(`${url}/twilio`, ['inbound']);
  await untilEnded(1);
  const ended = events.find((event) => event.type === 'ended');
  expect(ended).toMatchObject({ reason: 'insufficient_credits' });
  await twilioCall(`${url}/twilio`, ['inbound']);
  await untilEnded(2);
  expect(finals('inbound')).toHaveLength(1);
});

test('broken frames do not end a call, and unknown paths and tokens are refused', async () => {
  const { url } = await bridgeWith({ token: 'secret-token' });
  for (const path of ['/twilio', '/twilio/wrong', '/elsewhere/secret-token']) {
    const socket = new WebSocket(`${url}${path}`);
    const refused = await new Promise((resolve) => {
      socket.once('unexpected-response', (_, response) => resolve(response.statusCode));
    });
    socket.on('error', () => undefined);
    socket.terminate();
    expect(refused).toBe(404);
  }
  const socket = new WebSocket(`${url}/twilio/secret-token`);
  await new Promise((resolve) => socket.once('open', resolve));
  for (const broken of ['{', '[]', '{"event":"media"}', '{"event":"start","start":7}']) {
    socket.send(broken);
  }
  await twilioCall(`${url}/twilio/secret-token`, ['inbound']);
  await expect.poll(() => finals('inbound').length).toBe(1);
  socket.close();
});

test('a leg whose model ignores the keyterms says so, and is transcribed', async () => {
  const deaf = await startEmulator({ texts: [TEXT], keyterms: false, shortestMs: 1_000 });
  try {
    const client = new SvcClient({ baseUrl: deaf.url, apiKey: deaf.apiKey });
    const { url } = await bridgeWith({ client, keyterms: ['Wanjikũ'] });
    await twilioCall(`${url}/twilio`, ['inbound']);
    await untilEnded(1);
  } finally {
    await deaf.stop();
  }
  const warnings = events.filter((event) => event.type === 'warning');
  expect(warnings.map(({ code }) => code)).toEqual(['keyterms_ignored']);
  expect(finals('inbound')).toHaveLength(1);
});
