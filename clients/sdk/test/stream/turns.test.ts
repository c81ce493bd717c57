import { openStream, type StreamEvent } from '@svc-asr/sdk/stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startControl, type Control } from '../../../emulator/src/control.ts';
import type { Emulator } from '@svc-asr/emulator';
import { startEmulatorOn } from '@svc-asr/emulator/on-database.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { clientOf, KIKUYU } from '../emulator-client.ts';

/** The SDK against scripted turns: no speech is needed, because only the length of the audio counts. */

let emulator: Emulator;
let control: Control;
beforeAll(async () => {
  emulator = await startEmulatorOn(await createTestDatabase(), {
    turns: [
      { text: 'nĩ wega mũno', silenceMs: 400, speechMs: 1_500 },
      { text: '', silenceMs: 1_500, speechMs: 600 },
      { text: 'ũhoro waku', silenceMs: 1_500, speechMs: 1_000 },
    ],
  });
  control = await startControl(emulator, 0);
});
afterAll(async () => {
  await control.stop();
  await emulator.stop();
});

/** Sends silence, and returns the speech events and the finals with words as short texts. */
async function collectEvents(
  audioMs: number,
  endpointing: boolean,
): Promise<{ speech: string[]; finals: string[] }> {
  const stream = openStream({
    getSession: () => clientOf(emulator).sessions.create({ model: KIKUYU, maxAudioSeconds: 60 }),
    endpointing: endpointing ? { silenceMs: 500 } : false,
  });
  const events: StreamEvent[] = [];
  const reading = (async () => {
    for await (const event of stream) events.push(event);
  })();
  await stream.write(new Int16Array(audioMs * 16));
  await stream.finish();
  await reading;
  return {
    speech: events.flatMap((event) =>
      event.type === 'speech_started' || event.type === 'speech_ended'
        ? [`${event.type} ${event.audio_ms}`]
        : [],
    ),
    finals: events.flatMap((event) =>
      event.type === 'final' && event.text !== ''
        ? [`${event.reason} at ${event.end_ms}: ${event.text}`]
        : [],
    ),
  };
}

test('plays speech, pauses and a noise without words, at their times', async () => {
  expect(await collectEvents(8_000, true)).toEqual({
    speech: [
      'speech_started 400',
      'speech_ended 1900',
      'speech_started 3400',
      'speech_ended 4000',
      'speech_started 5500',
      'speech_ended 6500',
    ],
    finals: ['endpoint at 2400: nĩ wega mũno', 'endpoint at 7000: ũhoro waku'],
  });
});

test('without endpointing, one final has the words of all turns', async () => {
  expect(await collectEvents(8_000, false)).toEqual({
    speech: [],
    finals: ['flush at 8000: nĩ wega mũno ũhoro waku'],
  });
});

async function post(turns: unknown): Promise<number> {
  const body = JSON.stringify({ turns });
  const response = await fetch(`${control.url}/turns`, { method: 'POST', body });
  return response.status;
}

test('POST /turns sets the turns of the next streams', async () => {
  expect(await post([{ text: 'ĩĩ', silence_ms: -1 }])).toBe(400);
  expect(await post([])).toBe(400);
  expect(await post([{ text: 'ĩĩ', silence_ms: 200, speech_ms: 400 }])).toBe(200);
  expect(await collectEvents(2_000, true)).toEqual({
    speech: ['speech_started 200', 'speech_ended 600'],
    finals: ['endpoint at 1100: ĩĩ'],
  });
});

test('a noise causes speech events without words, and a flush after it is answered', async () => {
  emulator.play([{ text: '', silenceMs: 300, speechMs: 600 }]);
  const stream = openStream({
    getSession: () => clientOf(emulator).sessions.create({ model: KIKUYU, maxAudioSeconds: 60 }),
    endpointing: { silenceMs: 500 },
  });
  const ended = new Promise<number>((resolve) =>
    stream.on('speech_ended', ({ audio_ms }) => resolve(audio_ms)),
  );
  await stream.write(new Int16Array(2_000 * 16));
  expect(await ended).toBe(900);
  expect(await stream.flush()).toMatchObject({ text: '', reason: 'flush', end_ms: 2_000 });
  const { text } = await stream.finish();
  expect(text).toBe('');
});
