import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSherpaEngine, type SherpaEngine } from '@svc-asr/engine';
import { MODELS_DIR, speech } from '@svc-asr/testing/speech/fixtures.ts';
import { KIKUYU, startService, type Service } from '@svc-asr/testing/service/service.ts';
import { framed, StreamClient } from '@svc-asr/testing/service/stream-client.ts';

const PAUSE = Buffer.alloc(1_500 * 32);
const SENTENCES = ['kikuyu-1', 'kikuyu-2'] as const;

let engine: SherpaEngine;
let svc: Service;
beforeAll(async () => {
  engine = await startSherpaEngine({ modelsDir: MODELS_DIR, children: 1 });
  svc = await startService({ creditMs: 600_000, parts: { engine } });
});
afterAll(async () => {
  await svc.stop();
  await engine.close();
});

async function open(): Promise<StreamClient> {
  const { body } = await svc.createSession({ model: KIKUYU, max_audio_seconds: 60 });
  return StreamClient.ready(body, { url: svc.streamUrl });
}

function sendSentences(client: StreamClient): void {
  for (const name of SENTENCES) {
    for (const frame of framed(Buffer.from(speech(name).pcm))) client.send(frame);
    for (const frame of framed(PAUSE)) client.send(frame);
  }
}

test('ends each sentence by itself, with its words, their confidence and speech events around them', async () => {
  const client = await open();
  client.say({ type: 'config', endpointing: { silence_ms: 700 } });
  sendSentences(client);
  await client.next('final', SENTENCES.length);
  const finals = client.ofType('final');
  expect(finals.map(({ text, reason }) => ({ text, reason }))).toEqual(
    SENTENCES.map((name) => ({ text: speech(name).expected, reason: 'endpoint' })),
  );
  for (const { confidence = -1, words } of finals) {
    expect(confidence).toBeGreaterThan(0);
    expect(words.every((word) => (word.confidence ?? -1) >= 0 && (word.confidence ?? 2) <= 1)).toBe(
      true,
    );
  }
  const ofTurn = (utterance: number) =>
    client.events.flatMap((event) =>
      'utterance' in event && event.utterance === utterance && event.type !== 'delta'
        ? [event.type]
        : [],
    );
  const turn = ['speech_started', 'speech_ended', 'final'];
  expect([ofTurn(0), ofTurn(1), ofTurn(2)]).toEqual([turn, turn, []]);
  await client.close();
});

test('sends no final and no speech event to a client that did not ask for endpointing', async () => {
  const client = await open();
  sendSentences(client);
  const final = await client.flush();
  expect(client.ofType('final')).toHaveLength(1);
  expect(client.ofType('speech_started')).toEqual([]);
  expect(final.reason).toBe('flush');
  expect(final.text.length).toBeGreaterThan(speech(SENTENCES[0]).expected.length);
  await client.close();
});
