import { BackgroundVoice, type HeardVoice } from './background-voice.ts';
import { MainPitch } from './main-pitch.ts';

/** Levels are compared by their maximum over 160 ms, so that the gaps between syllables don't count. */
const RECENT_FRAMES = 8;
/** A voice this much quieter than the main speaker's loudest syllables is somebody else's. */
const BELOW_MAIN_DB = 17;
/** Unless it stands out from the background this much: then it is the main speaker, only quieter. */
const ABOVE_FLOOR_DB = 15;
/** A voice this much quieter is somebody else's if its pitch is, too, or if somebody else is known to talk. */
const QUIETER_DB = 8;
/** The main speaker is heard for certain in this many of the last eight frames. */
const MAIN_FRAMES_MIN = 3;
/** Beside a known voice in the background, speech starts with this many. 80 ms. */
const START_FRAMES_MIN = 4;
/** A pitch is the main speaker's if it is this close to the loudest syllables. */
const MAIN_PITCH_DB = 6;
/** And if it goes on for this long after the main speaker: single syllables may have any pitch. 240 ms. */
const OTHER_FRAMES_MIN = 12;
/** Only sounds this much above the background have a pitch of their own. */
const PITCH_ABOVE_FLOOR_DB = 9;
/** Frames of a syllable. */
const SYLLABLE_FRAMES = 3;
/** Per frame, 1 dB a second: a quieter main speaker can follow. */
const FORGET_DB = 0.02;
/** Slower beside a known voice in the background, which would start speech. 0.8 dB a second. */
const FORGET_BESIDE_DB = 0.016;

/** What the level detector measured in a frame. */
export interface FrameLevels {
  readonly levelDb: number;
  readonly floorDb: number;
  /** Measures the period of a voice in it. Null if it has none. */
  readonly period: () => number | null;
}

/** Follows the level and the pitch of the main speaker, to tell it from voices in the background. */
export class MainVoice {
  readonly #recent: number[] = [];
  readonly #pitch = new MainPitch();
  readonly #background = new BackgroundVoice();
  /** The loudest frame of the last 160 ms. */
  #recentDb = -Infinity;
  #mainDb = -Infinity;
  #floorDb = -Infinity;
  #framesSinceMain = Infinity;

  /** Takes the next frame. `isVoice`: a second detector hears a voice in it. */
  next({ levelDb, floorDb, period }: FrameLevels, isVoice: boolean): void {
    this.#recent.push(levelDb);
    if (this.#recent.length > RECENT_FRAMES) this.#recent.shift();
    this.#recentDb = Math.max(...this.#recent);
    this.#floorDb = floorDb;
    const hasPitch = isVoice && levelDb > floorDb + PITCH_ABOVE_FLOOR_DB;
    const isMain = levelDb > this.#mainDb - MAIN_PITCH_DB;
    this.#pitch.next(hasPitch ? period() : null, isMain);
    this.#mainDb -= this.#background.isKnown ? FORGET_BESIDE_DB : FORGET_DB;
    if (isVoice) this.#mainDb = Math.max(this.#mainDb, mean(this.#recent.slice(-SYLLABLE_FRAMES)));
    this.#background.next(isVoice ? this.#heardVoice(levelDb) : null);
    const isMainVoice = isVoice && this.#isLoud && !this.#isOther;
    this.#framesSinceMain = isMainVoice ? 0 : this.#framesSinceMain + 1;
  }

  get recentDb(): number {
    return this.#recentDb;
  }

  /** Whether a voice in this frame can be the main speaker's, by its level and its pitch. */
  get isNear(): boolean {
    return this.#isLoud && (!this.#isOther || this.#framesSinceMain <= OTHER_FRAMES_MIN);
  }

  /** Whether a sound now can only be the known voice in the background. */
  get isBackground(): boolean {
    return this.#background.isKnown && this.#mainFrames < START_FRAMES_MIN;
  }

  /** How many frames ago the main speaker's turn ended, although a voice in the background goes on. Null if it didn't. */
  get endedFrames(): number | null {
    return this.#background.endedFrames;
  }

  #heardVoice(levelDb: number): HeardVoice {
    if (levelDb <= this.#mainDb - QUIETER_DB) return 'quieter';
    return this.#mainFrames >= MAIN_FRAMES_MIN ? 'main' : 'syllable';
  }

  /** How many of the last frames are as loud as the main speaker. */
  get #mainFrames(): number {
    return this.#recent.filter((db) => db > this.#mainDb - QUIETER_DB).length;
  }

  get #isLoud(): boolean {
    const recentDb = this.recentDb;
    return recentDb > this.#mainDb - BELOW_MAIN_DB || recentDb > this.#floorDb + ABOVE_FLOOR_DB;
  }

  get #isOther(): boolean {
    return this.recentDb < this.#mainDb - QUIETER_DB && this.#pitch.isOther;
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
