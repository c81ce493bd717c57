import { expect, test } from 'vitest';
import { figuresOf, missedGoals, presentPage, presentTable, type Report } from '../src/report.ts';
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

test('a goal is reached at its limit and missed above it', () => {
  expect(missedGoals(report())).toEqual([]);
  expect(missedGoals(report({ results: [result('seen voices', 'ki', 6)] }))).toEqual([
    'Kikuyu, seen voices: WER 6 %, the goal is 5 %',
  ]);
});

test('a single word where nobody spoke misses the goal', () => {
  const words = new Map([
    ['silence', 0],
    ['white noise', 1],
  ]);
  expect(missedGoals(report({ wordsWithoutSpeech: words }))).toHaveLength(1);
  expect(presentTable(report({ wordsWithoutSpeech: words }))).toContain('white noise 1');
});

test('figures keep their names, and noise is the mean of white noise and babble', () => {
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

test('table and page say what kind of speech it was', () => {
  expect(presentTable(report())).toContain('SYNTHETIC SPEECH ONLY');
  const page = presentPage(report());
  expect(page).toContain('SYNTHETIC SPEECH ONLY');
  expect(page).toContain('Dholuo, telephone');
});
