import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { FinalEvent, StreamEvent, TurnEagerEvent } from '@svc-asr/sdk/stream';
import { openStream } from '@svc-asr/sdk/stream';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { speech as recording } from '@svc-asr/testing/speech/fixtures.ts';
import type { Emulator } from '@svc-asr/emulator';
import { startEmulatorOn } from '@svc-asr/emulator/on-database.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { clientOf, KIKUYU } from '../emulator-client.ts';

const SPOKEN = recording('kikuyu-2').pcm;
const PAUSE = new Uint8Array(1_200 * 32);
const TEXTS = ['nĩ wega mũno', 'ũhoro waku mũrata wakwa', 'tũgũcemania rũciinĩ'];

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulatorOn(await createTestDatabase(), { texts: TEXTS });
});
afterAll(() => emulator.stop());
afterEach(() => emulator.faults.assertAllMet());

/** Sends three sentences with pauses. Returns the finals and speech events. */
async function converse(): Promise<{ finals: string[]; speech: string[] }> {
  const stream = openStream({
    getSession: () => clientOf(emulator).sessions.create({ model: KIKUYU, maxAudioSeconds: 60 }),
    endpointing: { silenceMs: 500 },
  });
  const events: StreamEvent[] = [];
  const reading = (async () => {
    for await (const event of stream) events.push(event);
  })();
  for (const _ of TEXTS) {
    await stream.write(SPOKEN);
    await stream.write(PAUSE);
  }
  await stream.finish();
  await reading;
  return {
    finals: events.flatMap((event) =>
      // The scripted recogniser also returns text for the silence after the last sentence.
      event.type === 'final' && event.reason === 'endpoint' ? [event.text] : [],
    ),
    speech: events.flatMap((event) =>
      event.type === 'speech_started' || event.type === 'speech_ended' ? [event.type] : [],
    ),
  };
}

test('each sentence gets its own final, with speech events around it', async () => {
  const { finals, speech } = await converse();
  expect(finals).toEqual(TEXTS);
  expect(speech).toEqual(TEXTS.flatMap(() => ['speech_started', 'speech_ended']));
});

test('a recogniser crash changes no utterance', async () => {
  emulator.faults.arm({ name: 'engine-crash', times: 1, ms: 5_000 });
  const { finals, speech } = await converse();
  expect(finals).toHaveLength(TEXTS.length);
  expect(speech).toEqual(TEXTS.flatMap(() => ['speech_started', 'speech_ended']));
});

/** Sends a sentence and half a second of silence. */
async function pauseAfterSentence() {
  const stream = openStream({
    getSession: () => clientOf(emulator).sessions.create({ model: KIKUYU, maxAudioSeconds: 60 }),
    endpointing: { silenceMs: 700, eagerMs: 300 },
    numbers: true,
  });
  const eagers: TurnEagerEvent[] = [];
  const resumed: number[] = [];
  const finals: FinalEvent[] = [];
  stream.on('turn_eager', (event) => eagers.push(event));
  stream.on('turn_resumed', ({ eager }) => resumed.push(eager));
  stream.on('final', (event) => finals.push(event));
  await stream.write(SPOKEN);
  await stream.write(PAUSE.subarray(0, 500 * 32));
  const spokenMs = SPOKEN.byteLength / 32;
  await eventually(() => (eagers.at(-1)?.audio_ms ?? 0) > spokenMs - 500);
  expect(finals).toEqual([]);
  return { stream, eagers, resumed, finals };
}

test('a lost session takes its eager end of turn back', async () => {
  emulator.faults.arm({ name: 'connection-lost', times: 1, ms: SPOKEN.byteLength / 32 + 550 });
  const { stream, eagers, resumed, finals } = await pauseAfterSentence();
  const { eager } = eagers.at(-1) ?? {};
  await stream.write(PAUSE.subarray(0, 100 * 32));
  await eventually(() => resumed.at(-1) === eager);
  await stream.write(PAUSE.subarray(0, 300 * 32));
  await eventually(() => finals.length > 0);
  expect(finals[0]?.eager).not.toBe(eager);
  await stream.close();
});

test('reports a turn that may be over before its final, which names it', async () => {
  emulator.say(['magana matano']);
  const { stream, eagers, finals } = await pauseAfterSentence();
  emulator.say(TEXTS);
  await stream.write(PAUSE);
  await eventually(() => finals.length > 0);
  const said = { text: 'magana matano', text_formatted: '500' };
  expect(eagers.at(-1)).toMatchObject(said);
  expect(finals[0]).toMatchObject({ reason: 'endpoint', ...said, eager: eagers.at(-1)?.eager });
  await stream.close();
});
