import { AUDIO } from '@svc-asr/protocol/constants.ts';
import { Confirmation, type VoiceVerdicts } from './confirmation.ts';
import { FadingTail } from './fading-tail.ts';
import { HighPass } from './high-pass.ts';
import { NoiseFloor } from './noise-floor.ts';
import { Onset } from './onset.ts';
import { predictionGain } from './tone.ts';
import { pitchPeriod, voicing, VOICING_SAMPLES } from './voicing.ts';

export const FRAME_SAMPLES = (AUDIO.sampleRateHz * 20) / 1000;
const DECIMATION = 4;
/** Quieter than this is silence, whatever the noise floor is. */
const LEVEL_MIN_DB = -52;
/** A frame counts as active when it is this much louder than the noise floor. */
const ABOVE_FLOOR_TO_START_DB = 9;
const ABOVE_FLOOR_TO_GO_ON_DB = 6;
/** During speech, sounds this much quieter than the speech so far count as background. */
const BELOW_SPEECH_DB = 14;
/** Per frame of silence, 2 dB a second: after a few seconds a quieter speaker can begin. */
const FORGET_SPEECH_LEVEL_DB = 0.04;
/** How fast the level of the speech follows its active frames. */
const SPEECH_LEVEL_RATE = 0.05;
const VOICED_MIN = 0.5;
/** Only steady tones are predicted this well. */
const TONE_GAIN_DB = 30;
/** Speech starts when this many of the last frames are active, and enough of those are voiced. */
const WINDOW_FRAMES = 8;
const ACTIVE_FRAMES_MIN = 5;
const VOICED_FRAMES_MIN = 3;
/** Speech continues while two of three frames are active, so a single click does not prolong it. */
const GO_ON_FRAMES = 3;
const GO_ON_ACTIVE_MIN = 2;

/** The state of the detector after a frame of 20 ms. */
export interface FrameVerdict {
  /** The sample after the frame, counted from the start of the stream. */
  readonly endSample: number;
  readonly speaking: boolean;
  /** Start and latest sample of the current or last speech. Null before any speech. */
  readonly speech: { readonly startSample: number; readonly lastSample: number } | null;
  /** Whether a second detector has heard speech since the start. Null or absent if none listens. */
  readonly confirmed?: boolean | null;
  /** A sound has just begun after silence. It may become speech, so a turn doesn't end in this frame. */
  readonly isOnset?: boolean;
}

/** Distinguishes speech from silence. Endpointing uses its verdict on every frame. */
export interface SpeechDetector {
  /** How many samples complete the current frame. Push at most this many at a time to act on each verdict. */
  readonly missing: number;
  /** Takes samples up to the end of the current frame. Returns a verdict when the frame is complete. */
  push(samples: Int16Array): FrameVerdict | null;
  /** Takes the verdicts of a second detector on audio that is pushed next. Samples count from the detector's first. */
  confirm?(verdicts: VoiceVerdicts): void;
  /** Ends the current speech. The next speech starts anew. */
  endSpeech(): void;
}

/**
 * Distinguishes speech from silence and noise in frames of 20 ms, by loudness above an adaptive noise
 * floor. Speech must start with a periodic, voiced sound. It needs no weights and about 0.1 % of a
 * core. Verdicts of a second detector, if there are any, confirm it.
 */
export class VoiceActivity implements SpeechDetector {
  readonly #floor = new NoiseFloor();
  /** Of the whole band. The ends of words are often above 2 kHz. */
  readonly #wideFloor = new NoiseFloor();
  readonly #tail = new FadingTail();
  readonly #onset = new Onset();
  readonly #confirmation = new Confirmation();
  readonly #highPass = new HighPass();
  readonly #frame = new Float32Array(FRAME_SAMPLES);
  /** The last 40 ms at 4 kHz. */
  readonly #decimated = new Float32Array(VOICING_SAMPLES);
  readonly #active: boolean[] = [];
  readonly #voiced: boolean[] = [];
  #filled = 0;
  #samples = 0;
  #speaking = false;
  #speechLevelDb = -Infinity;
  #speech: { startSample: number; lastSample: number } | null = null;

  get missing(): number {
    return FRAME_SAMPLES - this.#filled;
  }

  push(samples: Int16Array): FrameVerdict | null {
    this.#highPass.filter(samples, this.#frame, this.#filled);
    this.#filled += samples.length;
    this.#samples += samples.length;
    if (this.#filled < FRAME_SAMPLES) return null;
    this.#filled = 0;
    this.#processFrame();
    return {
      endSample: this.#samples,
      speaking: this.#speaking,
      speech: this.#speech,
      confirmed: this.#confirmation.confirmed,
      isOnset: this.#onset.isUnderWay,
    };
  }

  confirm(verdicts: VoiceVerdicts): void {
    this.#confirmation.add(verdicts);
  }

  /** The noise floor stays. */
  endSpeech(): void {
    this.#speaking = false;
    this.#active.length = 0;
    this.#voiced.length = 0;
    this.#confirmation.endSpeech();
  }

  #processFrame(): void {
    this.#decimate();
    const levelDb = levelOf(this.#decimated.subarray(VOICING_SAMPLES / 2));
    const floorDb = this.#floor.update(levelDb);
    const period = (): number | null => pitchPeriod(this.#decimated);
    this.#confirmation.next(this.#samples, { levelDb, floorDb, period });
    const aboveDb = this.#speaking ? ABOVE_FLOOR_TO_GO_ON_DB : ABOVE_FLOOR_TO_START_DB;
    const loud =
      levelDb > LEVEL_MIN_DB &&
      levelDb > floorDb + aboveDb &&
      levelDb > this.#speechLevelDb - BELOW_SPEECH_DB;
    // Telephone tones, ringing and beeps.
    const tone = loud && predictionGain(this.#decimated) >= TONE_GAIN_DB;
    const active = loud && !tone;
    remember(this.#active, active);
    // Only the start requires voicing, so the periodicity of later frames is not computed.
    remember(this.#voiced, active && !this.#speaking && voicing(this.#decimated) >= VOICED_MIN);
    const wideDb = levelOf(this.#frame);
    const wideFloorDb = this.#wideFloor.update(wideDb);
    this.#onset.next(wideDb, wideFloorDb);
    if (this.#speaking) {
      const byLevel = active
        ? this.#goesOn(levelDb)
        : !tone && this.#reachesThisFrame() && this.#tail.includes(wideDb, wideFloorDb);
      if (this.#confirmation.goesOn(byLevel, this.#samples)) this.#extend();
      this.#endBefore(this.#confirmation.endedFrames);
    } else {
      this.#begin(levelDb);
    }
    if (active) this.#tail.restart(wideDb);
  }

  #begin(levelDb: number): void {
    this.#speechLevelDb -= FORGET_SPEECH_LEVEL_DB;
    const frames = this.#startedFrames() ?? this.#confirmation.startedFrames;
    if (frames === null || !this.#confirmation.mayStart) return;
    this.#confirmation.start(this.#samples);
    this.#speaking = true;
    this.#speechLevelDb = Math.max(this.#speechLevelDb, levelDb);
    this.#speech = {
      startSample: Math.max(0, this.#samples - frames * FRAME_SAMPLES),
      lastSample: this.#samples,
    };
  }

  /** How many frames ago speech started, by level and voicing. Null if it hasn't. */
  #startedFrames(): number | null {
    const isSpeech =
      count(this.#active) >= ACTIVE_FRAMES_MIN && count(this.#voiced) >= VOICED_FRAMES_MIN;
    return isSpeech ? this.#active.length - this.#active.indexOf(true) : null;
  }

  #goesOn(levelDb: number): boolean {
    this.#speechLevelDb += SPEECH_LEVEL_RATE * (levelDb - this.#speechLevelDb);
    return count(this.#active.slice(-GO_ON_FRAMES)) >= GO_ON_ACTIVE_MIN;
  }

  #reachesThisFrame(): boolean {
    return this.#speech?.lastSample === this.#samples - FRAME_SAMPLES;
  }

  #extend(): void {
    if (this.#speech !== null) this.#speech = { ...this.#speech, lastSample: this.#samples };
  }

  /** Speech ended this many frames ago. */
  #endBefore(frames: number | null): void {
    if (frames === null || this.#speech === null) return;
    const { startSample, lastSample } = this.#speech;
    const endSample = Math.max(startSample, this.#samples - frames * FRAME_SAMPLES);
    this.#speech = { startSample, lastSample: Math.min(lastSample, endSample) };
  }

  #decimate(): void {
    const fresh = FRAME_SAMPLES / DECIMATION;
    this.#decimated.copyWithin(0, fresh);
    for (let at = 0; at < fresh; at += 1) {
      let sum = 0;
      for (let offset = 0; offset < DECIMATION; offset += 1) {
        sum += this.#frame[at * DECIMATION + offset] ?? 0;
      }
      this.#decimated[VOICING_SAMPLES - fresh + at] = sum / DECIMATION;
    }
  }
}

/** In dB below full scale. Of audio at 4 kHz it is the level below 2 kHz: most of a voice, a quarter of white noise. */
function levelOf(samples: Float32Array): number {
  let energy = 0;
  // An iterator would take twice as long.
  for (let at = 0; at < samples.length; at += 1) {
    const sample = samples[at] ?? 0;
    energy += sample * sample;
  }
  return 10 * Math.log10(energy / samples.length + 1e-10);
}

function remember(history: boolean[], value: boolean): void {
  history.push(value);
  if (history.length > WINDOW_FRAMES) history.shift();
}

function count(history: readonly boolean[]): number {
  return history.filter(Boolean).length;
}
