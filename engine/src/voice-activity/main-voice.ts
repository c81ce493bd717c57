/** Levels are compared by their maximum over 160 ms, so that the gaps between syllables don't count. */
const RECENT_FRAMES = 8;
/** A voice this much quieter than the main speaker's loudest syllables is somebody else's. */
const BELOW_MAIN_DB = 17;
/** Unless it stands out from the background this much: then it is the main speaker, only quieter. */
const ABOVE_FLOOR_DB = 15;
/** Frames of a syllable. */
const SYLLABLE_FRAMES = 3;
/** Per frame, 1 dB a second: a quieter main speaker can follow. */
const FORGET_DB = 0.02;

/** Follows the level of the main speaker, to tell it from voices in the background. */
export class MainVoice {
  readonly #recent: number[] = [];
  #mainDb = -Infinity;
  #floorDb = -Infinity;

  /** Takes the level of the next frame. `isVoice`: a second detector hears a voice in it. */
  next(levels: { readonly levelDb: number; readonly floorDb: number }, isVoice: boolean): void {
    this.#recent.push(levels.levelDb);
    if (this.#recent.length > RECENT_FRAMES) this.#recent.shift();
    this.#floorDb = levels.floorDb;
    this.#mainDb -= FORGET_DB;
    if (isVoice) this.#mainDb = Math.max(this.#mainDb, mean(this.#recent.slice(-SYLLABLE_FRAMES)));
  }

  /** The loudest frame of the last 160 ms. */
  get recentDb(): number {
    return Math.max(...this.#recent);
  }

  /** Whether a voice in this frame is loud enough to be the main speaker's. */
  get isNear(): boolean {
    const recentDb = this.recentDb;
    return recentDb > this.#mainDb - BELOW_MAIN_DB || recentDb > this.#floorDb + ABOVE_FLOOR_DB;
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
