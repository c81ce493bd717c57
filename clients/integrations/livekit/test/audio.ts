import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AudioFrame } from '@livekit/rtc-node';
import { wavToPcm16k } from '@svc-asr/sdk/audio';

const FRAME_MS = 20;
const SENTENCE = wavToPcm16k(
  readFileSync(join(import.meta.dirname, '../../../../core/models/fixtures/kikuyu-2.wav')),
);

export const SENTENCE_MS = SENTENCE.length / 16;

/** A turn as a microphone would deliver it: a recorded sentence, then silence, in frames of 20 ms. */
export function* turn(silenceMs: number, sampleRate = 16_000): Generator<AudioFrame> {
  const samples = (sampleRate * FRAME_MS) / 1000;
  for (let ms = 0; ms < SENTENCE_MS + silenceMs; ms += FRAME_MS) {
    const data = Int16Array.from(
      { length: samples },
      (_, at) => SENTENCE[Math.round(ms * 16 + (at * 16_000) / sampleRate)] ?? 0,
    );
    yield new AudioFrame(data, sampleRate, 1, samples);
  }
}

export function* silence(ms: number): Generator<AudioFrame> {
  const samples = 16 * FRAME_MS;
  for (let at = 0; at < ms; at += FRAME_MS) {
    yield new AudioFrame(new Int16Array(samples), 16_000, 1, samples);
  }
}
