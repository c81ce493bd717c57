import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { startSherpaEngine, type Engine, type EngineWord } from '@svc-asr/engine';
import { stageModelSet } from '@svc-asr/models/model-set.ts';
import { AUDIO } from '@svc-asr/protocol';
import { readWave } from './audio.ts';
import { mapConcurrently } from './concurrency.ts';
import { recogniseWords } from './recognise.ts';
import { normalise } from './scoring.ts';
import { languageOf, MODEL_OF, type Language } from './sets.ts';
import { round } from './statistics.ts';
import { readSpeakers } from './training-material.ts';

/** One line of a NeMo manifest. NeMo ignores the fields that it doesn't know. */
export interface Label {
  readonly audio_filepath: string;
  readonly duration: number;
  readonly text: string;
  readonly lang: string;
  readonly target_lang: string;
  readonly speaker?: string;
  /** The geometric mean of the words' confidences; 0 without words. */
  readonly confidence: number;
  /** Whether a person should listen to it first: the uncertain third. */
  readonly check: boolean;
  readonly words: readonly {
    readonly word: string;
    readonly start: number;
    readonly end: number;
    readonly confidence: number;
  }[];
}

const CODES: Readonly<Record<Language, string>> = { ki: 'ki-KE', luo: 'luo-KE' };
const STREAMS_AT_ONCE = 8;
const CHECKED_SHARE = 1 / 3;

/** Recognises recordings without texts and writes a NeMo manifest, the least certain first. Returns the exit status. */
export async function labelFolder(options: {
  readonly folder: string;
  readonly language: Language | undefined;
  readonly modelsDir: string;
  readonly model: string;
  readonly out: string;
}): Promise<number> {
  const folder = resolve(options.folder);
  const names = (await readdir(folder)).filter((name) => name.endsWith('.wav')).toSorted();
  if (names.length === 0) throw new Error(`${folder} contains no .wav files.`);
  const speakers = await readSpeakers(folder);
  const staged = await stageModelSet(options.modelsDir, options.model);
  try {
    const engine = await startSherpaEngine({ modelsDir: staged, slotsPerChild: STREAMS_AT_ONCE });
    try {
      console.log(`${names.length} recordings ...`);
      const labels = await mapConcurrently(names, STREAMS_AT_ONCE, (name) =>
        label(engine, {
          path: join(folder, name),
          language: options.language ?? languageOf(name),
          speaker: speakers.get(basename(name, '.wav')),
        }),
      );
      await mkdir(options.out, { recursive: true });
      const manifest = join(options.out, 'labels.json');
      const sorted = leastCertainFirst(labels);
      await writeFile(manifest, sorted.map((one) => `${JSON.stringify(one)}\n`).join(''));
      report(sorted, manifest);
      return 0;
    } finally {
      await engine.close();
    }
  } finally {
    await rm(staged, { recursive: true });
  }
}

async function label(
  engine: Engine,
  input: {
    readonly path: string;
    readonly language: Language;
    readonly speaker: string | undefined;
  },
): Promise<Label> {
  const { path, language, speaker } = input;
  const wave = await readWave(path);
  const final = await recogniseWords(engine, { model: MODEL_OF[language], wave });
  const lang = CODES[language];
  return {
    audio_filepath: path,
    duration: wave.length / AUDIO.sampleRateHz,
    text: normalise(final.text),
    lang,
    target_lang: lang,
    ...(speaker === undefined ? {} : { speaker }),
    confidence: certainty(final.words),
    check: false,
    words: final.words.map(({ text, startMs, endMs, confidence = 0 }) => ({
      word: text,
      start: startMs / 1000,
      end: endMs / 1000,
      confidence: round(confidence, 3),
    })),
  };
}

/** The geometric mean: one word that is surely wrong makes a sentence useless for training. */
export function certainty(words: readonly Pick<EngineWord, 'confidence'>[]): number {
  if (words.length === 0) return 0;
  const logs = words.map(({ confidence = 0 }) => Math.log(Math.max(confidence, 1e-6)));
  return round(Math.exp(logs.reduce((sum, log) => sum + log, 0) / logs.length), 3);
}

/** Sorts by confidence and marks the first third. */
export function leastCertainFirst(labels: readonly Label[]): Label[] {
  const checked = Math.ceil(CHECKED_SHARE * labels.length);
  return labels
    .toSorted((a, b) => a.confidence - b.confidence)
    .map((one, at) => ({ ...one, check: at < checked }));
}

function report(sorted: readonly Label[], manifest: string): void {
  const checked = sorted.filter(({ check }) => check);
  const hours = sorted.reduce((sum, { duration }) => sum + duration, 0) / 3600;
  const empty = sorted.filter(({ text }) => text === '').length;
  const limit = checked.at(-1)?.confidence ?? 0;
  console.log(
    `${manifest}: ${sorted.length} recordings, ${hours.toFixed(2)} h, ${empty} without words.\n` +
      `Listen to the first ${checked.length} (confidence up to ${limit}) and correct their text: "check" is true there.\n` +
      `Set "check" to false once a line is right. speech.data.corpus leaves out lines that are still to be checked.`,
  );
  const figures = { recordings: sorted.length, to_check: checked.length, without_words: empty };
  console.log(JSON.stringify({ name: 'label', passed: true, figures }));
}
