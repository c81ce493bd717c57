/** 20 ms at 16 kHz: shorter than a syllable, longer than a pitch period. */
export const WINDOW_SAMPLES = 320;

const FLOOR_START_DB = -55;
/** The noise floor falls at once and rises slowly, so that speech doesn't raise it. */
const FLOOR_RISE_DB = 0.04;
const SPEECH_ABOVE_FLOOR_DB = 9;
const SPEECH_LEAST_DB = -52;

/** Detects speech by its level above the noise floor. It is cheap, and in doubt it reports speech. */
export class LevelDetector {
  #floorDb = FLOOR_START_DB;

  isSpeech(window: Int16Array): boolean {
    const level = levelDb(window);
    this.#floorDb = Math.max(-90, Math.min(level, this.#floorDb + FLOOR_RISE_DB));
    return level > SPEECH_LEAST_DB && level > this.#floorDb + SPEECH_ABOVE_FLOOR_DB;
  }
}

/** Returns the level in dBFS: 0 is full scale. */
export function levelDb(samples: Int16Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample ** 2;
  const rms = Math.sqrt(sum / Math.max(1, samples.length)) / 32_768;
  return 20 * Math.log10(Math.max(rms, 1e-6));
}
