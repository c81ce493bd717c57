import { AUDIO } from '@svc-asr/protocol';
import { powerOf } from '../conditions.ts';
import { percentile } from '../statistics.ts';

/** Cuts recordings into phrases whose first and last sample are known. */

export interface Phrase {
  readonly voice: string;
  readonly wave: Float32Array;
}

const RATE = AUDIO.sampleRateHz;
const FRAME = RATE / 100;
/** Phrases are brought to this level, in dB below full scale. */
export const SPEECH_DB = -23;
const SHORTEST_S = 0.13;
const LONGEST_S = 7;
/** What is this much quieter than the loud frames, or this close to the recording's own noise, is no speech. */
const RANGE_DB = 35;
const ABOVE_NOISE_DB = 10;
/** Recordings with less between noise and speech don't say where phrases end. */
const CLEAR_DB = 35;
const QUIETEST_DB = -62;
const PAUSE_FRAMES = 15;
/** A phrase that begins or ends with 200 ms this quiet has breath or the room at its edge: nobody knows where speech ends. */
const EDGE_FRAMES_MAX = 20;
const EDGE_DB = 20;
const SOUND_FRAMES_MIN = 4;

export function phrasesOf(voice: string, recording: Float32Array): Phrase[] {
  const levels = levelsOf(withoutRumble(recording));
  if (levels.length < 8) return [];
  const loud = percentile(levels, 0.95);
  if (loud < -45) return [];
  const noise = percentile(levels, 0.05);
  if (noise > loud - CLEAR_DB) return [];
  const threshold = Math.max(loud - RANGE_DB, noise + ABOVE_NOISE_DB, QUIETEST_DB);
  const phrases: Phrase[] = [];
  for (const [first, last] of runsAbove(levels, threshold)) {
    const cut = recording.subarray(first * FRAME, last * FRAME);
    const seconds = cut.length / RATE;
    const db = 10 * Math.log10(powerOf(cut) + 1e-10);
    if (seconds < SHORTEST_S || seconds > LONGEST_S || db < loud - 15) continue;
    if (edgeFrames(cut) >= EDGE_FRAMES_MAX) continue;
    phrases.push({ voice, wave: faded(cut, 10 ** ((SPEECH_DB - db) / 20)) });
  }
  return phrases;
}

/** Runs of loud frames. Pauses shorter than 150 ms belong to a phrase. */
function runsAbove(levels: readonly number[], threshold: number): [number, number][] {
  const runs: [number, number][] = [];
  for (const [at, level] of levels.entries()) {
    if (level <= threshold) continue;
    const run = runs.at(-1);
    if (run !== undefined && at - run[1] < PAUSE_FRAMES) run[1] = at + 1;
    else runs.push([at, at + 1]);
  }
  return runs.filter(([first, last]) => last - first >= SOUND_FRAMES_MIN);
}

/** How many frames at the start or the end of a phrase are much quieter than the phrase. */
function edgeFrames(phrase: Float32Array): number {
  const levels = levelsOf(phrase);
  const clearDb = percentile(levels, 0.95) - EDGE_DB;
  const isClear = (level: number): boolean => level > clearDb;
  return Math.max(levels.findIndex(isClear), levels.length - 1 - levels.findLastIndex(isClear));
}

function levelsOf(wave: Float32Array): number[] {
  return Array.from({ length: Math.floor(wave.length / FRAME) }, (_, at) => {
    const frame = wave.subarray(at * FRAME, (at + 1) * FRAME);
    return 10 * Math.log10(powerOf(frame) + 1e-10);
  });
}

/** Two first-order high passes at 100 Hz. */
function withoutRumble(wave: Float32Array): Float32Array {
  const keep = Math.exp((-2 * Math.PI * 100) / RATE);
  let filtered = wave;
  for (let pass = 0; pass < 2; pass += 1) {
    let [previous, out] = [0, 0];
    filtered = filtered.map((sample) => {
      out = keep * (out + sample - previous);
      previous = sample;
      return out;
    });
  }
  return filtered;
}

/** A copy at another level with 5 ms of fade, so that the cuts don't click. */
function faded(wave: Float32Array, gain: number): Float32Array {
  const ramp = Math.min(80, wave.length >> 2);
  return wave.map((sample, at) => {
    const fade = Math.min(1, at / ramp, (wave.length - 1 - at) / ramp);
    return sample * gain * fade;
  });
}
