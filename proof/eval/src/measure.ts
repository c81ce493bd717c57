import type { Engine } from '@svc-asr/engine';
import { overTelephone, soundsWithoutSpeech, withBabble, withWhiteNoise } from './conditions.ts';
import { scoreWords, type ScoredWord } from './confidence.ts';
import { mapConcurrently } from './concurrency.ts';
import { recogniseWords } from './recognise.ts';
import { addTo, emptyScore, normalise, withoutTilde, words, type Score } from './scoring.ts';
import { LANGUAGES, MODEL_OF, type Language, type Utterance } from './sets.ts';

/** The result of one condition for one language. */
export interface Result {
  readonly condition: string;
  readonly language: Language;
  readonly score: Score;
  readonly scoreWithoutTilde: Score;
  /** Every recognised word that has a confidence. */
  readonly scoredWords: readonly ScoredWord[];
}

export interface Condition {
  readonly name: string;
  readonly utterances: readonly Utterance[];
}

const STREAMS_AT_ONCE = 8;
const SOUND_SECONDS = 5;

/** Yields the same speech over the telephone, in white noise and in babble at 20 dB. Computed lazily. */
export function* disturbed(clean: readonly Utterance[]): Generator<Condition> {
  const waves = clean.map((utterance) => utterance.wave);
  const disturbances: Record<string, (wave: Float32Array, seed: number) => Float32Array> = {
    telephone: overTelephone,
    'white noise': withWhiteNoise,
    babble: (wave, seed) => withBabble(wave, waves, seed),
  };
  for (const [name, disturb] of Object.entries(disturbances)) {
    const utterances = clean.map((one, seed) => ({ ...one, wave: disturb(one.wave, seed) }));
    yield { name, utterances };
  }
}

export async function measure(engine: Engine, condition: Condition): Promise<Result[]> {
  const recognised = await mapConcurrently(condition.utterances, STREAMS_AT_ONCE, (utterance) =>
    recogniseWords(engine, { model: MODEL_OF[utterance.language], wave: utterance.wave }),
  );
  const present = LANGUAGES.filter((language) =>
    condition.utterances.some((utterance) => utterance.language === language),
  );
  return present.map((language) => {
    const result = { score: emptyScore(), scoreWithoutTilde: emptyScore() };
    const scoredWords: ScoredWord[] = [];
    for (const [i, utterance] of condition.utterances.entries()) {
      if (utterance.language !== language) continue;
      const pair = { spoken: utterance.spoken, recognised: normalise(recognised[i]?.text ?? '') };
      scoredWords.push(...scoreWords(utterance.spoken, recognised[i]?.words ?? []));
      addTo(result.score, pair);
      addTo(result.scoreWithoutTilde, {
        spoken: withoutTilde(pair.spoken),
        recognised: withoutTilde(pair.recognised),
      });
    }
    return { condition: condition.name, language, ...result, scoredWords };
  });
}

/** Words transcribed without speech, by sound. The goal is none. */
export async function measureSilence(engine: Engine): Promise<ReadonlyMap<string, number>> {
  const trials = [...soundsWithoutSpeech(SOUND_SECONDS)].flatMap(([sound, wave]) =>
    LANGUAGES.map((language) => ({ sound, wave, model: MODEL_OF[language] })),
  );
  const recognised = await mapConcurrently(trials, STREAMS_AT_ONCE, (trial) =>
    recogniseWords(engine, trial),
  );
  const counts = new Map<string, number>();
  for (const [i, { sound }] of trials.entries()) {
    counts.set(sound, (counts.get(sound) ?? 0) + words(recognised[i]?.text ?? '').length);
  }
  return counts;
}
