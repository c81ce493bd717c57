import { expect, test } from 'vitest';
import { align } from '../src/alignment.ts';
import { errorRate, improvement, UNKNOWN_SPEAKER, type Count } from '../src/bootstrap.ts';
import { confidenceQuality } from '../src/confidence.ts';
import { presentFolderPage, presentJudgements, verdict } from '../src/report/folder-page.ts';
import { figuresOfFolder } from '../src/folder.ts';
import { judge, type Recognised } from '../src/judgement.ts';
import type { Recording } from '../src/recordings.ts';

function recording(change: Partial<Recording> = {}): Recording {
  return {
    name: 'ki-1',
    language: 'ki',
    wave: new Float32Array(16_000),
    spoken: 'nĩ wega mũno',
    speaker: 'wanjiru',
    band: 'wide band',
    length: 'under 3 s',
    ...change,
  };
}

function recognised(text: string, change: Partial<Recording> = {}): Recognised {
  const words = text
    .split(' ')
    .filter(Boolean)
    .map((word) => ({ text: word, startMs: 0, endMs: 100, confidence: 0.9 }));
  return { recording: recording(change), text, words };
}

const counts = (errors: readonly number[]): Count[] =>
  errors.map((wrong, at) => ({ errors: wrong, total: 10, speaker: `speaker ${at}` }));

const spokenBy = (errors: number, speakers: number): Count[] =>
  Array.from({ length: 60 }, (_, at) => ({
    errors: errors + (at % 2),
    total: 10,
    speaker: `speaker ${at % speakers}`,
  }));
const ofUnknown = (counts: readonly Count[]): Count[] =>
  counts.map((count) => ({ ...count, speaker: UNKNOWN_SPEAKER }));
const alone = (counts: readonly Count[]): Count[] =>
  counts.map((count, at) => ({ ...count, speaker: `speaker ${at}` }));

const sixSpeakers = (errors: (speaker: number) => number): Count[] =>
  Array.from({ length: 600 }, (_, at) => ({
    errors: errors(at % 6),
    total: 10,
    speaker: `speaker ${at % 6}`,
  }));

test('aligns missing, added and changed words', () => {
  expect(align(['a', 'b', 'c'], ['a', 'x', 'c', 'd'])).toEqual([
    { spoken: 'a', recognised: 'a' },
    { spoken: 'b', recognised: 'x' },
    { spoken: 'c', recognised: 'c' },
    { spoken: undefined, recognised: 'd' },
  ]);
  expect(align(['a'], [])).toEqual([{ spoken: 'a', recognised: undefined }]);
});

test('the interval contains the rate, is deterministic, and narrows with more recordings', () => {
  const few = errorRate(counts([0, 1, 2, 3]));
  expect(few.rate).toBe(15);
  expect(few.low).toBeLessThan(15);
  expect(few.high).toBeGreaterThan(15);
  expect(errorRate(counts([0, 1, 2, 3]))).toEqual(few);
  const many = errorRate(counts(Array.from({ length: 400 }, (_, at) => at % 4)));
  expect(many.high - many.low).toBeLessThan((few.high - few.low) / 3);
});

test('gives an upper bound above zero for few words without errors', () => {
  expect(errorRate(counts([0, 0, 0]))).toEqual({ rate: 0, low: 0, high: 10 });
});

test('gives a wide interval for few speakers with many recordings each', () => {
  const recordings = Array.from({ length: 200 }, (_, at) => ({
    errors: at % 10 < 2 ? 9 : 1,
    total: 10,
    speaker: `speaker ${at % 10}`,
  }));
  const alone = recordings.map((one, at) => ({ ...one, speaker: `speaker ${at}` }));
  const [bySpeaker, byRecording] = [errorRate(recordings), errorRate(alone)];
  expect(bySpeaker.high - bySpeaker.low).toBeGreaterThan(2 * (byRecording.high - byRecording.low));
});

test('reports a difference only if the interval excludes zero', () => {
  const a = counts(Array.from({ length: 60 }, (_, at) => 2 + (at % 3)));
  const better = a.map((count) => ({ ...count, errors: count.errors - 1 }));
  expect(verdict(improvement(a, better))).toBe('better by 10.0 points');
  expect(verdict(improvement(better, a))).toBe('worse by 10.0 points');
  const mixed = a.map((count, at) => ({
    ...count,
    errors: count.errors + (at % 2 === 0 ? 1 : -1),
  }));
  expect(verdict(improvement(a, mixed))).toBe('no clear difference');
});

test('a gain of one speaker out of six is no clear difference, however many recordings show it', () => {
  const before = sixSpeakers(() => 4);
  const after = sixSpeakers((speaker) => (speaker === 0 ? 1 : 4));
  expect(verdict(improvement(before, after))).toBe('no clear difference');
  expect(verdict(improvement(alone(before), alone(after)))).toBe('better by 5.0 points');
});

test('a gain of five speakers is not called a difference; of unknown speakers it says so', () => {
  expect(verdict(improvement(spokenBy(4, 5), spokenBy(2, 5)))).toContain(
    'too few speakers to tell: 5',
  );
  expect(verdict(improvement(spokenBy(4, 6), spokenBy(2, 6)))).toBe('better by 20.0 points');
  const said = verdict(improvement(ofUnknown(spokenBy(4, 1)), ofUnknown(spokenBy(2, 1))));
  expect(said).toBe('better by 20.0 points, speakers unknown');
});

test('one speaker does not give a narrower interval than the recordings do', () => {
  const one = counts([0, 1, 2, 3]).map((count) => ({ ...count, speaker: 'wanjiru' }));
  expect(errorRate(one)).toEqual(errorRate(counts([0, 1, 2, 3])));
});

test('rates confidence as good if wrong words score low and as useless if scores are equal', () => {
  const right = Array.from({ length: 8 }, () => ({ confidence: 0.9, right: true }));
  const wrong = Array.from({ length: 2 }, () => ({ confidence: 0.1, right: false }));
  expect(confidenceQuality([...right, ...wrong])).toMatchObject({ words: 10, auc: 1, ece: 0.1 });
  const equal = [...right, ...wrong].map((word) => ({ ...word, confidence: 0.5 }));
  expect(confidenceQuality(equal)?.auc).toBe(0.5);
  expect(confidenceQuality(right)).toBeNull();
});

test('lists the worst sentences, confused letters and groups', () => {
  const all = [
    recognised('nĩ wega mũno'),
    recognised('ni wegamũno', { name: 'ki-2', speaker: 'kamau', band: 'telephone band' }),
  ];
  const one = judge({ model: 'demo', language: 'ki', recognised: all, first: null });
  expect(one.wer.rate).toBe(50);
  expect(one.werWithoutTilde.rate).toBe(33.3);
  expect(one.worst).toEqual([
    { name: 'ki-2', spoken: 'nĩ wega mũno', recognised: 'ni wegamũno', errors: 3 },
  ]);
  expect(one.confusions).toEqual([
    { spoken: 'ĩ', recognised: 'i', count: 1 },
    { spoken: ' ', recognised: '', count: 1 },
  ]);
  expect(one.groups.map(({ by, group, wer }) => [by, group, wer.rate])).toEqual([
    ['band', 'telephone band', 100],
    ['band', 'wide band', 0],
    ['speaker', 'kamau', 100],
    ['speaker', 'wanjiru', 0],
  ]);
  expect(one.confidence).toMatchObject({ words: 5 });
});

test('the report says how many words are wrong and which model is better', () => {
  const speakers = ['a', 'b', 'c', 'd', 'e', 'f'];
  const first = speakers.map((speaker) => recognised('ni wega mũno <b>', { speaker }));
  const second = speakers.map((speaker) => recognised('nĩ wega mũno', { speaker }));
  const judgements = [
    judge({ model: 'demo', language: 'ki', recognised: first, first: null }),
    judge({ model: 'new', language: 'ki', recognised: second, first }),
  ];
  const page = presentFolderPage({
    title: 'Test',
    folder: '/recordings',
    judgements,
    findings: [{ code: 'digits', problem: 'digits in <it>', isSerious: true, names: ['ki-1'] }],
  });
  expect(page).toMatch(/Out of 100 words, <strong>67<\/strong> are wrong/);
  expect(page).toContain('better by 66.7 points');
  expect(page).toContain('Only 18 words were spoken');
  expect(page).toContain('<td>digits in &lt;it&gt;</td><td>ki-1</td>');
  expect(page).toContain('wrong until the problems in this table are mended');
  expect(presentJudgements(judgements)).toContain('better by 66.7 points');
  expect(figuresOfFolder(judgements)).toMatchObject({
    wer_ki_folder: 66.7,
    wer_ki_folder_new: 0,
  });
});

test('escapes markup in transcripts', () => {
  const all = [recognised('wega', { spoken: '<script>alert(1)</script>' })];
  const judgements = [judge({ model: '<i>', language: 'ki', recognised: all, first: null })];
  const page = presentFolderPage({ title: '<title>', folder: '&', judgements, findings: [] });
  expect(page).not.toContain('<script>');
  expect(page).not.toContain('<i>');
});
