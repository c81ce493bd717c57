import { AUDIO } from '@svc-asr/protocol';
import { UNKNOWN_SPEAKER } from './bootstrap.ts';
import { lowPassedPower } from './conditions.ts';
import { readFolder, type Language, type Utterance } from './sets.ts';
import { readSpeakers } from './training-material.ts';

type Band = 'wide band' | 'telephone band';
type Length = 'under 3 s' | '3 to 8 s' | 'over 8 s';

/** One recording of an operator's folder with its properties. */
export interface Recording extends Utterance {
  readonly speaker: string;
  readonly band: Band;
  readonly length: Length;
}

/** The upper limit of the telephone band. */
const TELEPHONE_HZ = 3_800;
const TELEPHONE_SHARE_MAX = 0.001;

/** Reads a folder of recordings. An optional `speakers.tsv` (NAME, a tab, SPEAKER) names the speakers. */
export async function readRecordings(folder: string, language?: Language): Promise<Recording[]> {
  const speakers = await readSpeakers(folder);
  return (await readFolder(folder, language)).map((utterance) => ({
    ...utterance,
    speaker: speakers.get(utterance.name) ?? UNKNOWN_SPEAKER,
    band: bandOf(utterance.wave),
    length: lengthOf(utterance.wave.length / AUDIO.sampleRateHz),
  }));
}

function bandOf(wave: Float32Array): Band {
  // Use differences of neighbouring samples, because speech has very little power at high frequencies.
  const emphasised = wave.map((sample, at) => sample - (wave[at - 1] ?? 0));
  const { below, all } = lowPassedPower(emphasised, TELEPHONE_HZ);
  return all - below < TELEPHONE_SHARE_MAX * all ? 'telephone band' : 'wide band';
}

function lengthOf(seconds: number): Length {
  if (seconds < 3) return 'under 3 s';
  return seconds <= 8 ? '3 to 8 s' : 'over 8 s';
}
