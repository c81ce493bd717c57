import { AUDIO } from '@svc-asr/protocol';
import { powerOf } from './conditions.ts';

const FRAME_SAMPLES = AUDIO.sampleRateHz / 50;
/** Clips shorter than this have too few frames to judge. */
const FRAMES_MIN = 10;
const LOUD_SHARE = 0.9;
/** Share of the level of loud frames. Clips of synthesisers start without silence, at half of it. */
const START_MIN = 0.6;
const END_MIN = 0.3;

/** Whether the first or last 20 ms of a clip are almost as loud as its speech, as if it had been cut inside a word. */
export function isCutInSpeech(wave: Float32Array): boolean {
  const levels: number[] = [];
  for (let at = 0; at + FRAME_SAMPLES <= wave.length; at += FRAME_SAMPLES) {
    levels.push(Math.sqrt(powerOf(wave.subarray(at, at + FRAME_SAMPLES))));
  }
  if (levels.length < FRAMES_MIN) return false;
  const loud = levels.toSorted((a, b) => a - b)[Math.floor(LOUD_SHARE * levels.length)] ?? 0;
  const last = Math.sqrt(powerOf(wave.subarray(-FRAME_SAMPLES)));
  return loud > 0 && ((levels[0] ?? 0) > START_MIN * loud || last > END_MIN * loud);
}
