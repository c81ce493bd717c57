import { expect, test } from 'vitest';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { KIKUYU } from '@svc-asr/testing/service/service.ts';
import { framed, StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { startConfirmingService } from '../support/confirming-service.ts';

/** Words as short as "yes", "no" or a spelled letter, cut out of recorded sentences. `text`: the recogniser knows it alone. */
const WORDS = [
  { sentence: 'kikuyu-1', fromMs: 1_813, toMs: 1_973, text: 'nĩ' },
  { sentence: 'kikuyu-3', fromMs: 373, toMs: 613, text: 'ũyũ' },
  { sentence: 'kikuyu-3', fromMs: 0, toMs: 373, text: 'mwana' },
  { sentence: 'kikuyu-2', fromMs: 2_213, toMs: 2_533, text: null },
  { sentence: 'kikuyu-2', fromMs: 2_533, toMs: 2_773, text: null },
  { sentence: 'kikuyu-4', fromMs: 453, toMs: 773, text: null },
  { sentence: 'kikuyu-4', fromMs: 853, toMs: 1_013, text: null },
] as const;
const SILENCE_MS = 200;
const BYTES_PER_MS = 32;
const PAUSE_MS = 1_200;
const PAUSE = Buffer.alloc(PAUSE_MS * BYTES_PER_MS);
/** The detectors hear the end of a word this much late or early. */
const END_ERROR_MS_MAX = 120;

const svc = await startConfirmingService(3_600_000);

async function open(detector: 'level' | 'confirmed' | null): Promise<StreamClient> {
  const { body } = await svc.createSession({ model: KIKUYU, max_audio_seconds: 60 });
  const client = await StreamClient.ready(body, { url: svc.streamUrl });
  if (detector === null) return client;
  client.say({ type: 'config', endpointing: { silence_ms: SILENCE_MS, detector } });
  await client.next('config_ack');
  return client;
}

function send(client: StreamClient, { sentence, fromMs, toMs }: (typeof WORDS)[number]): void {
  const { pcm } = speech(sentence);
  const word = Buffer.from(pcm.subarray(fromMs * BYTES_PER_MS, toMs * BYTES_PER_MS));
  for (const frame of framed(Buffer.concat([PAUSE, word, PAUSE]))) client.send(frame);
}

async function textOfFlush(word: (typeof WORDS)[number]): Promise<string> {
  const client = await open(null);
  send(client, word);
  client.say({ type: 'flush' });
  const { text } = await client.next('final');
  await client.close();
  return text;
}

test.each(['level', 'confirmed'] as const)(
  'words of 160 to 370 ms get their final 200 ms after their end, with the text of a flush (%s)',
  async (detector) => {
    for (const word of WORDS) {
      const text = await textOfFlush(word);
      expect(text).toBe(word.text ?? text);
      const client = await open(detector);
      send(client, word);
      const final = await client.next('final');
      expect(final).toMatchObject({ reason: 'endpoint', text });
      const endMs = PAUSE_MS + word.toMs - word.fromMs;
      expect(Math.abs(final.end_ms - SILENCE_MS - endMs)).toBeLessThan(END_ERROR_MS_MAX);
      client.say({ type: 'flush' });
      await eventually(() => client.ofType('final').length === 2);
      expect(client.ofType('final')[1]).toMatchObject({ reason: 'flush', text: '' });
      expect(client.ofType('speech_started')).toHaveLength(1);
      expect(client.ofType('speech_ended')).toHaveLength(1);
      await client.close();
    }
  },
);
