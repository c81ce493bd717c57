const ABOVE_FLOOR_DB = 6;
/** A sound is new after this much silence: 200 ms. */
const QUIET_FRAMES_MIN = 10;
/** After this long it is known whether the sound is speech: 240 ms. */
const FRAMES_MAX = 12;

/** Recognises that a sound has just begun after silence, over the whole band. Many words begin quieter than speech must be. */
export class Onset {
  #quietFrames = 0;
  #frames = 0;

  /** Takes the level of the next frame. */
  next(levelDb: number, floorDb: number): void {
    if (levelDb > floorDb + ABOVE_FLOOR_DB) {
      if (this.#frames > 0 || this.#quietFrames >= QUIET_FRAMES_MIN) this.#frames += 1;
      this.#quietFrames = 0;
      return;
    }
    this.#quietFrames += 1;
    if (this.#quietFrames > 1) this.#frames = 0;
  }

  /** The sound has just begun: nobody knows yet whether it is speech. */
  get isUnderWay(): boolean {
    return this.#frames > 0 && this.#frames <= FRAMES_MAX;
  }
}
