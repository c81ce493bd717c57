import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SPEAKERS_MIN, UNKNOWN_SPEAKER } from './bootstrap.ts';
import { isCutInSpeech } from './cut-clips.ts';
import type { Recording } from './recordings.ts';
import { words } from './scoring.ts';
import { readTrainingMaterial } from './training-material.ts';

/** Something in a set of recordings that makes its error rates wrong. */
export interface Finding {
  readonly code: FindingCode;
  readonly problem: string;
  /** False if the rates are only less certain than they look. */
  readonly isSerious: boolean;
  /** Names of recordings, or of speakers. */
  readonly names: readonly string[];
}

type FindingCode = keyof typeof PROBLEMS;

const PROBLEMS = {
  double_encoded: { isSerious: true, problem: 'text encoded twice, such as Å© for ũ' },
  tags: { isSerious: true, problem: 'tags or brackets left in the text' },
  digits: { isSerious: true, problem: 'digits in the text: write numbers as they are spoken' },
  no_words: { isSerious: true, problem: 'text without words' },
  lost_apostrophe: {
    isSerious: true,
    problem: "a word with ng that other recordings spell with ng'",
  },
  same_audio: { isSerious: true, problem: 'the same audio as another recording' },
  sentence_in_training: { isSerious: true, problem: 'sentence is in the training material' },
  speaker_in_training: { isSerious: true, problem: 'speaker is in the training material' },
  same_sentence: { isSerious: false, problem: 'a sentence that occurs more than once' },
  cut_in_speech: {
    isSerious: false,
    problem: 'clip begins or ends at full loudness, as if cut inside a word',
  },
  unknown_speaker: {
    isSerious: false,
    problem:
      'speaker unknown: intervals are too narrow if one person spoke several. Add speakers.tsv',
  },
  few_speakers: { isSerious: false, problem: `fewer than ${SPEAKERS_MIN} speakers` },
} as const;

/** What UTF-8 becomes if it is read as Windows-1252 or Latin-1. */
const DOUBLE_ENCODED =
  /[ÂÃÄÅâ][\u0080-\u00bf\u0152-\u0178\u02c6\u02dc\u2013-\u203a\u20ac\u2122]|\ufffd/;
const TAGS = /\[[^\]]*\]|<[^>]*>|\{[^}]*\}|\([^)]*\)/;
const DIGITS = /\p{Nd}/u;
const NAMES_SHOWN = 5;

/** Looks for what has ruined other people's error rates. Reads the texts as they were written. */
export async function checkRecordings(input: {
  readonly folder: string;
  readonly recordings: readonly Recording[];
  /** What the models were trained on. */
  readonly training: readonly string[];
}): Promise<Finding[]> {
  const { folder, recordings } = input;
  const found = new Map<FindingCode, Set<string>>();
  const note = (code: FindingCode, name: string): void => {
    found.set(code, (found.get(code) ?? new Set()).add(name));
  };
  for (const recording of recordings) {
    const { name, spoken, wave, speaker } = recording;
    const text = await readFile(join(folder, `${name}.txt`), 'utf8');
    if (DOUBLE_ENCODED.test(text)) note('double_encoded', name);
    if (TAGS.test(text)) note('tags', name);
    if (DIGITS.test(text)) note('digits', name);
    if (spoken === '') note('no_words', name);
    if (isCutInSpeech(wave)) note('cut_in_speech', name);
    if (speaker === UNKNOWN_SPEAKER) note('unknown_speaker', name);
  }
  for (const name of lostApostrophes(recordings)) note('lost_apostrophe', name);
  for (const name of repeated(recordings, ({ spoken }) => spoken)) note('same_sentence', name);
  for (const name of repeated(recordings, ({ wave }) => fingerprint(wave)))
    note('same_audio', name);
  const material = await readTrainingMaterial(input.training);
  for (const { name, spoken, speaker } of recordings) {
    if (material.sentences.has(spoken)) note('sentence_in_training', name);
    if (material.speakers.has(speaker)) note('speaker_in_training', speaker);
  }
  const speakers = new Set(recordings.map(({ speaker }) => speaker));
  if (!speakers.has(UNKNOWN_SPEAKER) && speakers.size < SPEAKERS_MIN) {
    for (const speaker of speakers) note('few_speakers', speaker);
  }
  return codes().flatMap((code) => {
    const names = found.get(code);
    return names === undefined ? [] : [{ code, ...PROBLEMS[code], names: [...names] }];
  });
}

/** One line per finding: how many, what, and the first names. */
export function presentFindings(findings: readonly Finding[]): string {
  return findings
    .map(({ problem, isSerious, names }) => {
      const shown = names.slice(0, NAMES_SHOWN).join(', ');
      const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : '';
      return `${isSerious ? 'problem' : 'note'}: ${names.length} × ${problem} (${shown}${more})`;
    })
    .join('\n');
}

export function figuresOfFindings(findings: readonly Finding[]): Record<string, number> {
  return Object.fromEntries(findings.map(({ code, names }) => [`found_${code}`, names.length]));
}

function codes(): FindingCode[] {
  return Object.keys(PROBLEMS).filter((code): code is FindingCode => code in PROBLEMS);
}

function repeated(
  recordings: readonly Recording[],
  key: (recording: Recording) => string,
): readonly string[] {
  const groups = [...Map.groupBy(recordings, key).values()];
  return groups.filter(({ length }) => length > 1).flatMap((same) => same.map(({ name }) => name));
}

/** Recordings with a word that would be another one's if its ng had an apostrophe. */
function lostApostrophes(recordings: readonly Recording[]): readonly string[] {
  const dholuo = recordings.filter(({ language }) => language === 'luo');
  const spelt = new Set(dholuo.flatMap(({ spoken }) => words(spoken)));
  const lost = new Set(
    [...spelt].filter((word) => word.includes("ng'")).map((word) => word.replaceAll("'", '')),
  );
  return dholuo
    .filter(({ spoken }) => words(spoken).some((word) => lost.has(word)))
    .map(({ name }) => name);
}

function fingerprint(wave: Float32Array): string {
  const bytes = new Uint8Array(wave.buffer, wave.byteOffset, wave.byteLength);
  return createHash('sha256').update(bytes).digest('hex');
}
