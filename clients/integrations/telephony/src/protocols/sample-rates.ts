/** Rates of 16-bit linear audio that telephone systems send. */
const RATES: ReadonlySet<unknown> = new Set([8_000, 16_000, 24_000, 32_000, 48_000]);

export const RATES_ADVICE = 'Use 16-bit linear audio at 8000, 16000, 24000, 32000 or 48000 Hz.';

/** Null for anything else. Other rates are slow to resample, and 1 Hz is a mistake. */
export function sampleRate(given: unknown): number | null {
  return typeof given === 'number' && RATES.has(given) ? given : null;
}
