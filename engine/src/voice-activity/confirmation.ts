/** The probability that somebody speaks, for consecutive hops of 32 ms. */
export interface VoiceVerdicts {
  /** Where the first hop starts, in samples. */
  readonly startSample: number;
  readonly probabilities: Float32Array;
}

export const HOP_SAMPLES = 512;
/** A hop from here on confirms that a sound is speech. */
const CONFIRMS_MIN = 0.5;
/** In confirmed speech, a hop from here on is speech. */
const GOES_ON_MIN = 0.45;
/** For this long after such a hop, the level still decides: the ends of words are quiet. 60 ms. */
const TAIL_SAMPLES = 960;
/** Speech starts when this many of the last eight frames are confirmed, whatever their level. */
const WINDOW_FRAMES = 8;
const START_FRAMES_MIN = 3;

/** Follows a second detector, whose verdicts may be missing. Then the level alone decides. */
export class Confirmation {
  readonly #hops: { readonly endSample: number; readonly probability: number }[] = [];
  readonly #voiced: boolean[] = [];
  #probability: number | null = null;
  #isConfirmed = false;
  #voiceSample = -Infinity;

  add({ startSample, probabilities }: VoiceVerdicts): void {
    for (const [at, probability] of probabilities.entries()) {
      this.#hops.push({ endSample: startSample + (at + 1) * HOP_SAMPLES, probability });
    }
  }

  /** Takes the verdict on the frame that ends here: that of the newest whole hop. */
  next(frameEnd: number): void {
    while ((this.#hops[1]?.endSample ?? Infinity) <= frameEnd) this.#hops.shift();
    const hop = this.#hops[0];
    const isHeard =
      hop !== undefined && hop.endSample <= frameEnd && frameEnd - hop.endSample < HOP_SAMPLES;
    this.#probability = isHeard ? hop.probability : null;
    this.#voiced.push((this.#probability ?? 0) >= CONFIRMS_MIN);
    if (this.#voiced.length > WINDOW_FRAMES) this.#voiced.shift();
  }

  /** Whether the current speech is confirmed. Null if nobody listened to this frame. */
  get confirmed(): boolean | null {
    return this.#isConfirmed || (this.#probability === null ? null : false);
  }

  /** How many frames ago speech started that the level doesn't show. Null if it hasn't. */
  get startedFrames(): number | null {
    const isSpeech = this.#voiced.filter(Boolean).length >= START_FRAMES_MIN;
    return isSpeech ? this.#voiced.length - this.#voiced.indexOf(true) : null;
  }

  /** Speech starts at this frame. */
  start(frameEnd: number): void {
    this.#isConfirmed = this.#voiced.includes(true);
    this.#voiceSample = frameEnd;
  }

  /** Whether speech goes on in this frame, given what the level says. */
  goesOn(byLevel: boolean, frameEnd: number): boolean {
    const probability = this.#probability;
    if (probability === null) return byLevel;
    if (probability >= CONFIRMS_MIN) this.#isConfirmed = true;
    if (probability >= GOES_ON_MIN) this.#voiceSample = frameEnd;
    if (!this.#isConfirmed) return byLevel;
    return probability >= GOES_ON_MIN || (byLevel && frameEnd - this.#voiceSample <= TAIL_SAMPLES);
  }

  endSpeech(): void {
    this.#isConfirmed = false;
    this.#voiced.length = 0;
  }
}
