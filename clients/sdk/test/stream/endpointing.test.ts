import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { StreamEvent } from '@svc-asr/sdk/stream';
import { openStream } from '@svc-asr/sdk/stream';
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
