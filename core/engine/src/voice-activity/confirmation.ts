import { MainVoice, type FrameLevels } from './main-voice.ts';

/** The probability that somebody speaks, for consecutive hops of 32 ms. */
export interface VoiceVerdicts {
  /** Where the first hop starts, in samples. */
  readonly startSample: number;
  readonly probabilities: Float32Array;
}

export const HOP_SAMPLES = 512;
/** In a hop from here on there is a voice. */
const VOICE_MIN = 0.5;
/** One hop from here on confirms that a sound is speech. Music has single hops just above `VOICE_MIN`. */
const SURE_MIN = 0.8;
/** In confirmed speech, a hop from here on is speech. */
const GOES_ON_MIN = 0.6;
/** For this long after such a hop, the level still decides: the ends of words are quiet. 80 ms. */
const TAIL_SAMPLES = 1_280;
/** Speech starts, and is confirmed, when this many of the last eight frames have a voice, whatever their level. */
const WINDOW_FRAMES = 8;
const START_FRAMES_MIN = 3;
/** An unconfirmed sound goes on while it is this close to its loudest frame: a letter ends where only music or wind go on. */
const BELOW_PEAK_DB = 6;
/** Per frame, 3 dB a second. */
const FORGET_PEAK_DB = 0.06;

/** Follows a second detector, whose verdicts may be missing. Then the level alone decides. */
export class Confirmation {
  readonly #hops: { readonly endSample: number; readonly probability: number }[] = [];
  readonly #voiced: boolean[] = [];
  #probability: number | null = null;
  #isConfirmed = false;
  #voiceSample = -Infinity;
  readonly #mainVoice = new MainVoice();
  #peakDb = -Infinity;

  add({ startSample, probabilities }: VoiceVerdicts): void {
    for (const [at, probability] of probabilities.entries()) {
      this.#hops.push({ endSample: startSample + (at + 1) * HOP_SAMPLES, probability });
    }
  }

  /** Takes the verdict on the frame that ends here: that of the newest whole hop. */
  next(frameEnd: number, levels: FrameLevels): void {
    while ((this.#hops[1]?.endSample ?? Infinity) <= frameEnd) this.#hops.shift();
    const hop = this.#hops[0];
    const isExamined =
      hop !== undefined && hop.endSample <= frameEnd && frameEnd - hop.endSample < HOP_SAMPLES;
    this.#probability = isExamined ? hop.probability : null;
    const isVoice = (this.#probability ?? 0) >= VOICE_MIN;
    this.#mainVoice.next(levels, isVoice);
    this.#voiced.push(isVoice && this.#mainVoice.isNear);
    if (this.#voiced.length > WINDOW_FRAMES) this.#voiced.shift();
  }

  /** Whether the current speech is confirmed. Null if nobody listened to this frame. */
  get confirmed(): boolean | null {
    return this.#isConfirmed || (this.#probability === null ? null : false);
  }

  /** How many frames ago speech started that the level doesn't show. Null if it hasn't. */
  get startedFrames(): number | null {
    return this.#isVoiced ? this.#voiced.length - this.#voiced.indexOf(true) : null;
  }

  /** Whether speech may start: not where only a known voice in the background is heard. */
  get mayStart(): boolean {
    return this.#probability === null || !this.#mainVoice.isBackground;
  }

  /** Speech starts at this frame. */
  start(frameEnd: number): void {
    this.#isConfirmed = this.#isSure;
    this.#voiceSample = frameEnd;
    this.#peakDb = -Infinity;
  }

  /** Whether speech goes on in this frame, given what the level says. */
  goesOn(byLevel: boolean, frameEnd: number): boolean {
    const probability = this.#probability;
    if (probability === null) return byLevel;
    const { isNear, recentDb } = this.#mainVoice;
    this.#peakDb = Math.max(this.#peakDb - FORGET_PEAK_DB, recentDb);
    this.#isConfirmed ||= this.#isSure;
    if (!this.#isConfirmed) return byLevel && recentDb > this.#peakDb - BELOW_PEAK_DB;
    if (probability >= GOES_ON_MIN && isNear) this.#voiceSample = frameEnd;
    else if (!byLevel) return false;
    return frameEnd - this.#voiceSample <= TAIL_SAMPLES;
  }

  /** How many frames ago confirmed speech ended, although a voice in the background goes on. Null if it didn't. */
  get endedFrames(): number | null {
    return this.#isConfirmed && this.#probability !== null ? this.#mainVoice.endedFrames : null;
  }

  endSpeech(): void {
    this.#isConfirmed = false;
    this.#voiced.length = 0;
  }

  get #isVoiced(): boolean {
    return this.#voiced.filter(Boolean).length >= START_FRAMES_MIN;
  }

  get #isSure(): boolean {
    return this.#isVoiced || ((this.#probability ?? 0) >= SURE_MIN && this.#mainVoice.isNear);
  }
}
