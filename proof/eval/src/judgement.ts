import type { EngineWord } from '@svc-asr/engine';
import { align } from './alignment.ts';
import {
  errorRate,
  improvement,
  type Count,
  type Improvement,
  type Interval,
} from './bootstrap.ts';
import { confidenceQuality, scoreWords, type ConfidenceQuality } from './confidence.ts';
import type { Recording } from './recordings.ts';
import { distance, normalise, withoutTilde, words } from './scoring.ts';
import type { Language } from './sets.ts';

/** One model's transcript of one recording. */
export interface Recognised {
  readonly recording: Recording;
  readonly text: string;
  readonly words: readonly EngineWord[];
}

interface GroupRate {
  readonly by: 'speaker' | 'band' | 'length';
  readonly group: string;
  readonly recordings: number;
  readonly wer: Interval;
}

interface WorstSentence {
  readonly name: string;
  readonly spoken: string;
  readonly recognised: string;
  readonly errors: number;
}

interface Confusion {
  readonly spoken: string;
  readonly recognised: string;
  readonly count: number;
}

/** The results of one model for one language. */
export interface Judgement {
  readonly model: string;
  readonly language: Language;
  readonly recordings: number;
  readonly words: number;
  readonly wer: Interval;
  readonly cer: Interval;
  readonly werWithoutTilde: Interval;
  readonly groups: readonly GroupRate[];
  readonly worst: readonly WorstSentence[];
  readonly confusions: readonly Confusion[];
  readonly confidence: ConfidenceQuality | null;
  /** How much lower its word error rate is than the first model's. */
  readonly improvement: Improvement | null;
}

const WORST_SHOWN = 10;
const CONFUSIONS_SHOWN = 15;
const SPEAKERS_SHOWN = 30;

export function judge(input: {
  readonly model: string;
  readonly language: Language;
  readonly recognised: readonly Recognised[];
  /** The first model's transcripts of the same recordings. */
  readonly first: readonly Recognised[] | null;
}): Judgement {
  const { model, language, recognised, first } = input;
  const counts = recognised.map((one) => wordCount(one));
  return {
    model,
    language,
    recordings: recognised.length,
    words: counts.reduce((sum, { total }) => sum + total, 0),
    wer: errorRate(counts),
    cer: errorRate(recognised.map(letterCount)),
    werWithoutTilde: errorRate(recognised.map((one) => wordCount(one, withoutTilde))),
    groups: groupRates(recognised),
    worst: worstOf(recognised),
    confusions: confusionsOf(recognised),
    confidence: confidenceQuality(
      recognised.flatMap(({ recording, words: written }) => scoreWords(recording.spoken, written)),
    ),
    improvement:
      first === null
        ? null
        : improvement(
            first.map((one) => wordCount(one)),
            counts,
          ),
  };
}

function wordCount(one: Recognised, spell: (text: string) => string = (text) => text): Count {
  const spoken = words(spell(one.recording.spoken));
  const errors = distance(spoken, words(spell(normalise(one.text))));
  return { errors, total: spoken.length, speaker: one.recording.speaker };
}

function letterCount(one: Recognised): Count {
  const spoken = Array.from(one.recording.spoken);
  const errors = distance(spoken, Array.from(normalise(one.text)));
  return { errors, total: spoken.length, speaker: one.recording.speaker };
}

function groupRates(recognised: readonly Recognised[]): GroupRate[] {
  return (['band', 'length', 'speaker'] as const).flatMap((by) => {
    const groups = [...Map.groupBy(recognised, ({ recording }) => recording[by])];
    if (groups.length < 2) return [];
    return groups
      .map(([group, members]) => ({
        by,
        group,
        recordings: members.length,
        wer: errorRate(members.map((one) => wordCount(one))),
      }))
      .toSorted((a, b) => b.wer.rate - a.wer.rate)
      .slice(0, SPEAKERS_SHOWN);
  });
}

function worstOf(recognised: readonly Recognised[]): WorstSentence[] {
  return recognised
    .map((one) => ({
      name: one.recording.name,
      spoken: one.recording.spoken,
      recognised: normalise(one.text),
      errors: wordCount(one).errors,
    }))
    .filter(({ errors }) => errors > 0)
    .toSorted((a, b) => b.errors - a.errors)
    .slice(0, WORST_SHOWN);
}

/** Counts confused letters. A missing or added space counts as a letter. */
function confusionsOf(recognised: readonly Recognised[]): Confusion[] {
  const counts = new Map<string, Confusion>();
  for (const one of recognised) {
    const steps = align(Array.from(one.recording.spoken), Array.from(normalise(one.text)));
    for (const step of steps) {
      if (step.spoken === step.recognised) continue;
      const [spoken, written] = [step.spoken ?? '', step.recognised ?? ''];
      const key = `${spoken}>${written}`;
      counts.set(key, { spoken, recognised: written, count: (counts.get(key)?.count ?? 0) + 1 });
    }
  }
  return [...counts.values()].toSorted((a, b) => b.count - a.count).slice(0, CONFUSIONS_SHOWN);
}
