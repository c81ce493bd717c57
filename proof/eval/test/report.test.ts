import { expect, test } from 'vitest';
import {
  figuresOf,
  missedGoals,
  presentPage,
  presentTable,
  type Report,
} from '../src/report/report.ts';
import type { Language } from '../src/sets.ts';

function result(condition: string, language: Language, wordErrors: number) {
  const score = {
    utterances: 10,
    words: 100,
    wordErrors,
    characters: 500,
    characterErrors: wordErrors,
  };
  return {
    condition,
    language,
    score,
    scoreWithoutTilde: { ...score, wordErrors: wordErrors / 2 },
    scoredWords: [
      { confidence: 0.95, right: true },
      { confidence: 0.85, right: true },
      { confidence: 0.45, right: false },
    ],
  };
}

function report(change: Partial<Report> = {}): Report {
  return {
    title: 'Recognition of test-1',
    note: 'SYNTHETIC SPEECH ONLY.',
    results: [result('seen voices', 'ki', 5), result('telephone', 'luo', 15)],
    wordsWithoutSpeech: new Map([['silence', 0]]),
    ...change,
  };
}

test('a goal is met at its limit and missed above it', () => {
  expect(missedGoals(report())).toEqual([]);
  expect(missedGoals(report({ results: [result('seen voices', 'ki', 6)] }))).toEqual([
    'Kikuyu, seen voices: WER 6 %, the goal is 5 %',
  ]);
});

test('one word transcribed without speech misses the goal', () => {
  const words = new Map([
    ['silence', 0],
    ['white noise', 1],
  ]);
  expect(missedGoals(report({ wordsWithoutSpeech: words }))).toHaveLength(1);
  expect(presentTable(report({ wordsWithoutSpeech: words }))).toContain('white noise 1');
});

test('keeps figure names; noise is the mean of white noise and babble', () => {
  const results = [
    result('seen voices', 'ki', 4),
    result('white noise', 'ki', 10),
    result('babble', 'ki', 20),
  ];
  expect(figuresOf(report({ results }))).toMatchObject({
    wer_ki_seen: 4,
    cer_ki_seen: 0.8,
    wer_ki_seen_without_tilde: 2,
    wer_ki_noise: 15,
    words_on_silence: 0,
  });
});

test('table and page state the kind of speech', () => {
  expect(presentTable(report())).toContain('SYNTHETIC SPEECH ONLY');
  const page = presentPage(report());
  expect(page).toContain('SYNTHETIC SPEECH ONLY');
  expect(page).toContain('Dholuo, telephone');
});

test('reports AUC and calibration error, and draws the reliability of both languages', () => {
  expect(figuresOf(report())).toMatchObject({
    confidence_auc: 1,
    confidence_auc_ki_seen: 1,
    // (0.05 + 0.15 + 0.45) / 3
    confidence_ece: 0.217,
    confidence_ece_luo: 0.217,
  });
  expect(presentTable(report())).toContain(
    'confidence, Dholuo: AUC 1.000 for right against wrong words, expected calibration error 0.217',
  );
  const page = presentPage(report());
  expect(page).toContain('Kikuyu: 0.4 to 0.5: 0 % of 1 words right');
  expect(page.match(/<circle/g)).toHaveLength(2 * (3 + 1));
});

test('a report without confidence has no section about it', () => {
  const [first] = report().results;
  const results = first === undefined ? [] : [{ ...first, scoredWords: [] }];
  expect(presentPage(report({ results }))).not.toContain('Confidence');
  expect(figuresOf(report({ results }))).not.toHaveProperty('confidence_auc');
});
