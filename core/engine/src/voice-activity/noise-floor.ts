/** Lower bound of the floor: a good recording of a quiet room. */
const FLOOR_MIN_DB = -68;
/** Until the first window is complete, the floor is at most this high: speech may begin with the first frame. */
const FLOOR_AT_START_MAX_DB = -50;
const FRAMES_PER_WINDOW = 25;
const WINDOWS = 5;
/** Corrects the bias: the minimum of noisy levels is below their mean. */
const BIAS_DB = 2;

/**
 * Tracks the level of the background noise as the lowest smoothed level of the last 2.5 s. Speech pauses between
 * syllables, so even continuous speech does not lift it far.
 */
export class NoiseFloor {
  readonly #minima: number[] = [];
  #smoothedDb: number | null = null;
  #lowestDb = Infinity;
  #frames = 0;

  /** Takes the level of the next frame. Returns the floor in dB below full scale. */
  update(levelDb: number): number {
    const smoothed = this.#smoothedDb === null ? levelDb : 0.6 * this.#smoothedDb + 0.4 * levelDb;
    this.#smoothedDb = smoothed;
    this.#lowestDb = Math.min(this.#lowestDb, smoothed);
    this.#frames += 1;
    if (this.#frames === FRAMES_PER_WINDOW) {
      this.#minima.push(this.#lowestDb);
      if (this.#minima.length > WINDOWS) this.#minima.shift();
      this.#lowestDb = smoothed;
      this.#frames = 0;
    }
    const lowest = Math.min(this.#lowestDb, ...this.#minima);
    const highest = this.#minima.length === 0 ? FLOOR_AT_START_MAX_DB : Infinity;
    return Math.min(Math.max(lowest + BIAS_DB, FLOOR_MIN_DB), highest);
  }
}
