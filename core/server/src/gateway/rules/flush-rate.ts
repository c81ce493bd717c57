import { AUDIO, LIMITS } from '@svc-asr/protocol';

/** When a flush arrived, and how much audio the stream had accepted by then. */
export interface FlushMoment {
  readonly atMs: number;
  readonly sample: number;
}

const WINDOW_MS = 1_000;

/**
 * Returns the earlier flushes that count against the rate: those less than a second ago both in time and in audio.
 * Flushes that bunch up behind back-pressure or a slow network arrive at once, but are as far apart in the audio as
 * their client sent them.
 */
export function recentFlushes(
  earlier: readonly FlushMoment[],
  now: FlushMoment,
): readonly FlushMoment[] {
  return earlier.filter(
    ({ atMs, sample }) => now.atMs - atMs < WINDOW_MS && now.sample - sample < AUDIO.sampleRateHz,
  );
}

export function isFlushTooSoon(recent: readonly FlushMoment[]): boolean {
  return recent.length >= LIMITS.flushesPerSecond;
}
