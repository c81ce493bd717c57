/** The pitch of the main speaker is the median of this many frames, two seconds of voice. Fewer than a fifth say nothing. */
const MAIN_FRAMES = 100;
const MAIN_FRAMES_MIN = 20;
/** That of the sound now is the median of its last frames with a pitch. */
const NOW_FRAMES = 10;
/** A pitch is forgotten after this much time without one: 300 ms. */
const PITCHLESS_FRAMES_MAX = 15;
/** People change their pitch by less than this within a sentence, mostly. In octaves. */
const OTHER_OCTAVES = 0.4;

/** Compares the pitch of the sound now with that of the main speaker. */
export class MainPitch {
  /** Logarithms of periods. */
  readonly #main: number[] = [];
  #now: number[] = [];
  /** Null until somebody asks: sorting takes long. */
  #mainMedian: number | null = null;
  #pitchlessFrames = 0;

  /** Takes the period of the next frame, or null if it has none. `isMain`: it is as loud as the main speaker. */
  next(period: number | null, isMain: boolean): void {
    if (period === null) {
      this.#pitchlessFrames += 1;
      if (this.#pitchlessFrames > PITCHLESS_FRAMES_MAX) this.#now = [];
      return;
    }
    this.#pitchlessFrames = 0;
    remember(this.#now, Math.log2(period), NOW_FRAMES);
    if (!isMain) return;
    remember(this.#main, Math.log2(period), MAIN_FRAMES);
    this.#mainMedian = null;
  }

  /** Whether the pitch of the sound now is clearly another one. */
  get isOther(): boolean {
    if (this.#now.length < NOW_FRAMES || this.#main.length < MAIN_FRAMES_MIN) return false;
    this.#mainMedian ??= median(this.#main);
    return Math.abs(median(this.#now) - this.#mainMedian) > OTHER_OCTAVES;
  }
}

function remember(values: number[], value: number, most: number): void {
  values.push(value);
  if (values.length > most) values.shift();
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}
