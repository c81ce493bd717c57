/** A tail is at most this long: 200 ms. */
const FRAMES_MAX = 10;
const ABOVE_FLOOR_DB = 4;
/** A sound that gets louder again is another sound. */
const RISE_MAX_DB = 3;
/** Speech this much louder than the noise is heard to its end. */
const CLEAR_DB = 30;
/** A voice fades about this much in a frame. */
const FADE_DB = 5;
/** How fast the level of the speech follows its frames. */
const LEVEL_RATE = 0.1;

/**
 * Recognises the end of a word: a sound that follows speech without a break and fades, such as a final s or the last breath of
 * a vowel. It is too quiet or too high to count as speech on its own. Noise hides the rest of it, the more the louder the
 * noise is.
 */
export class FadingTail {
  #frames = 0;
  #hiddenFrames = 0;
  #levelDb = -Infinity;
  #speechDb: number | null = null;

  /** Speech goes on: a tail can follow this frame. */
  restart(levelDb: number): void {
    this.#frames = 0;
    this.#hiddenFrames = 0;
    this.#levelDb = levelDb;
    this.#speechDb =
      this.#speechDb === null ? levelDb : this.#speechDb + LEVEL_RATE * (levelDb - this.#speechDb);
  }

  /** Whether the next frame still belongs to the speech. */
  includes(levelDb: number, floorDb: number): boolean {
    const audible = levelDb > floorDb + ABOVE_FLOOR_DB;
    if (!audible) this.#hiddenFrames += 1;
    const isOther = audible && (this.#hiddenFrames > 0 || levelDb > this.#levelDb + RISE_MAX_DB);
    this.#frames = isOther ? FRAMES_MAX + 1 : this.#frames + 1;
    this.#levelDb = levelDb;
    return this.#frames <= FRAMES_MAX && this.#hiddenFrames <= this.#hiddenMax(floorDb);
  }

  #hiddenMax(floorDb: number): number {
    const aboveNoiseDb = (this.#speechDb ?? floorDb) - floorDb;
    return Math.max(0, (CLEAR_DB - aboveNoiseDb) / FADE_DB);
  }
}
