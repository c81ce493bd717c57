/** A pause has another voice if it is in 3 of the frames from 160 to 400 ms after the main speaker and in 6 of those up to 800 ms. */
const EARLY_FROM_FRAMES = 8;
const LATE_FROM_FRAMES = 20;
const PAUSE_FRAMES = 40;
const EARLY_MIN = 3;
const LATE_MIN = 6;
/** Two pauses within 1.5 s are parts of one sentence, whose quiet words are no other voice. */
const BETWEEN_PAUSES_FRAMES = 75;
/** Another voice is known if enough of the last pauses had one, two in a row at the start. */
const PAUSE_RATE = 0.15;
const KNOWN_MIN = 0.25;
/** A known voice that goes on for this long after the main speaker is not part of the turn. 720 ms. */
const AFTER_MAIN_FRAMES = 36;

/** The voice in a frame. A syllable is as loud as the main speaker, but too short to be certain. */
export type HeardVoice = 'main' | 'syllable' | 'quieter' | null;

/**
 * Learns from the pauses of the main speaker whether somebody else talks in the background. A person who takes the next turn
 * is silent first, and the quiet end of a sentence doesn't last.
 */
export class BackgroundVoice {
  #framesSinceMain = Infinity;
  #framesSincePause = Infinity;
  #isMainCertain = false;
  #early = 0;
  #late = 0;
  #share = 0;

  /** Takes the voice in the next frame, if there is one. */
  next(voice: HeardVoice): void {
    this.#framesSincePause += 1;
    if (voice === 'main' || voice === 'syllable') {
      this.#isMainCertain = voice === 'main';
      this.#framesSinceMain = 0;
      this.#early = 0;
      this.#late = 0;
      return;
    }
    this.#framesSinceMain += 1;
    if (voice === 'quieter' && this.#framesSinceMain > LATE_FROM_FRAMES) this.#late += 1;
    else if (voice === 'quieter' && this.#framesSinceMain > EARLY_FROM_FRAMES) this.#early += 1;
    if (this.#framesSinceMain !== PAUSE_FRAMES || !this.#isMainCertain) return;
    if (this.#framesSincePause < BETWEEN_PAUSES_FRAMES) return;
    this.#framesSincePause = 0;
    const hasVoice = this.#early >= EARLY_MIN && this.#late >= LATE_MIN;
    this.#share += PAUSE_RATE * (Number(hasVoice) - this.#share);
  }

  get isKnown(): boolean {
    return this.#share >= KNOWN_MIN;
  }

  /** How many frames ago the main speaker's turn ended. Null while it may go on. */
  get endedFrames(): number | null {
    const isOver = this.isKnown && this.#framesSinceMain >= AFTER_MAIN_FRAMES;
    return isOver ? this.#framesSinceMain : null;
  }
}
