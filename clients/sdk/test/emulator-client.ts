import { SvcClient } from '@svc-asr/sdk';
import { openStream, type StreamOptions, type SvcStream } from '@svc-asr/sdk/stream';
import type { Emulator } from '@svc-asr/emulator';

export const KIKUYU = 'svc-asr-kikuyu-v1';
const SAMPLES_PER_MS = 16;

export function clientOf(emulator: Emulator): SvcClient {
  return new SvcClient({ baseUrl: emulator.url, apiKey: emulator.apiKey });
}

/** Opens a stream that creates its own sessions, as a server would. */
export function streamOf(
  emulator: Emulator,
  options: { maxAudioSeconds?: number } & StreamOptions = {},
): SvcStream {
  const { maxAudioSeconds = 60, ...rest } = options;
  const client = clientOf(emulator);
  return openStream({
    getSession: ({ signal }) =>
      client.sessions.create({ model: KIKUYU, maxAudioSeconds }, { signal }),
    ...rest,
  });
}

/** Alternates between sound and silence, so that there are pauses. */
export function speech(ms: number): Int16Array {
  return Int16Array.from({ length: ms * SAMPLES_PER_MS }, (_, at) => {
    const isPause = at % 16_000 > 10_000;
    return isPause ? 0 : 8_000 * Math.sin(at / 11);
  });
}

/** Sound without pauses, so that a session ends only at its limit. */
export function hum(ms: number): Int16Array {
  return Int16Array.from({ length: ms * SAMPLES_PER_MS }, (_, at) => 8_000 * Math.sin(at / 11));
}
