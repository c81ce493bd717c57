import { expect, test } from 'vitest';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { KIKUYU } from '@svc-asr/testing/service/service.ts';
import { framed, StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { startConfirmingService } from '../support/confirming-service.ts';

const PAUSE = Buffer.alloc(1_500 * 32);
const SENTENCES = ['kikuyu-1', 'kikuyu-2'] as const;
const CONFIRMED = { type: 'config', endpointing: { detector: 'confirmed' } };

const svc = await startConfirmingService(600_000);

async function open(): Promise<StreamClient> {
  const { body } = await svc.createSession({ model: KIKUYU, max_audio_seconds: 60 });
  const client = await StreamClient.ready(body, { url: svc.streamUrl });
  client.say(CONFIRMED);
  return client;
}

function send(client: StreamClient, name: (typeof SENTENCES)[number]): number {
  const audio = Buffer.concat([speech(name).pcm, PAUSE]);
  for (const frame of framed(audio)) client.send(frame);
  return audio.byteLength / 32;
}

test('ends each sentence with the confirmed detector, in force by name', async () => {
  const client = await open();
  const ack = await client.next('config_ack');
  expect(ack.endpointing).toMatchObject({ detector: 'confirmed' });
  for (const name of SENTENCES) send(client, name);
  await client.next('final', SENTENCES.length);
  expect(client.ofType('final').map(({ text, reason }) => ({ text, reason }))).toEqual(
    SENTENCES.map((name) => ({ text: speech(name).expected, reason: 'endpoint' })),
  );
  expect(client.ofType('speech_started')).toHaveLength(SENTENCES.length);
  await client.close();
});
