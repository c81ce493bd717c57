import { SPEAKERS_MIN, type Improvement, type Interval } from '../bootstrap.ts';
import type { Judgement } from '../judgement.ts';
import type { Finding } from '../recordings-check.ts';
import { escapeHtml, htmlRow, presentRows } from './present.ts';
import { reliabilityPlot } from './reliability-plot.ts';
import { LANGUAGE_NAMES } from '../sets.ts';

const FEW_WORDS = 1_000;

/** Returns one line per model and language, for the terminal. */
export function presentJudgements(judgements: readonly Judgement[]): string {
  return presentRows([
    ['model', 'language', 'recordings', 'WER % (95 %)', 'CER % (95 %)', 'against the first'],
    ...judgements.map((one) => [
      one.model,
      LANGUAGE_NAMES[one.language],
      String(one.recordings),
      withRange(one.wer),
      withRange(one.cer),
      one.improvement === null ? '' : verdict(one.improvement),
    ]),
  ]);
}

export function withRange({ rate, low, high }: Interval): string {
  return `${rate.toFixed(1)} (${low.toFixed(1)} to ${high.toFixed(1)})`;
}

/** Says whether a difference is significant. */
export function verdict({ rate, low, high, speakers }: Improvement): string {
  if (speakers !== null && speakers < SPEAKERS_MIN) {
    return `too few speakers to tell: ${speakers}, at least ${SPEAKERS_MIN} are needed`;
  }
  const basis = speakers === null ? ', speakers unknown' : '';
  if (low > 0) return `better by ${rate.toFixed(1)} points${basis}`;
  if (high < 0) return `worse by ${(-rate).toFixed(1)} points${basis}`;
  return `no clear difference${basis}`;
}

/** Returns a self-contained HTML report for non-programmers. */
export function presentFolderPage(input: {
  readonly title: string;
  readonly folder: string;
  readonly judgements: readonly Judgement[];
  readonly findings: readonly Finding[];
}): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(input.title)}</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #1a202c }
  h2 { margin-top: 2.5rem; border-top: 1px solid #cbd5e0; padding-top: 1.5rem }
  table { border-collapse: collapse; margin: 1rem 0 }
  td, th { padding: 0.25rem 0.75rem; border-bottom: 1px solid #cbd5e0; text-align: left; vertical-align: top }
  .headline { font-size: 1.15rem }
  .note { color: #4a5568 }
</style>
<h1>${escapeHtml(input.title)}</h1>
<p class="note">Recordings of ${escapeHtml(input.folder)}. Each was streamed through the recogniser as a caller would send it, and
what it wrote was compared with the text beside the recording.</p>
${checks(input.findings)}
${input.judgements.map(section).join('\n')}
<h2>How to read this</h2>
<p><strong>Words wrong (WER)</strong>: words that were replaced, left out or added, out of 100 spoken. <strong>Letters wrong
(CER)</strong>: the same for letters; a word with one wrong letter counts as a whole wrong word above. The range in brackets
is where the true figure lies with 95 % confidence for other speakers like these: with few speakers it is wide. Two models differ clearly only when the
report says so; otherwise more speakers are needed.</p>
</html>
`;
}

function checks(findings: readonly Finding[]): string {
  if (findings.length === 0)
    return '<p>The recordings and their texts have none of the known problems.</p>';
  const rows = findings.map(({ problem, isSerious, names }) =>
    htmlRow('td', [
      isSerious ? 'problem' : 'note',
      String(names.length),
      problem,
      names.join(', '),
    ]),
  );
  const serious = findings.some(({ isSerious }) => isSerious)
    ? '<p><strong>The figures below are wrong until the problems in this table are mended.</strong></p>'
    : '';
  return `<h2>The recordings themselves</h2>${serious}<table>${htmlRow('th', ['', 'count', 'what', 'where'])}${rows.join('')}</table>`;
}

function section(one: Judgement): string {
  const { wer } = one;
  const few =
    one.words < FEW_WORDS
      ? `<p class="note">Only ${one.words} words were spoken. Record at least ${FEW_WORDS} by ten people before you decide.</p>`
      : '';
  const compared =
    one.improvement === null
      ? ''
      : `<p>Against the first model on the same recordings: <strong>${verdict(one.improvement)}</strong>
(${withRange(one.improvement)} points).</p>`;
  return `<h2>${escapeHtml(one.model)}: ${LANGUAGE_NAMES[one.language]}</h2>
<p class="headline">Out of 100 words, <strong>${wer.rate.toFixed(0)}</strong> are wrong (between ${wer.low.toFixed(0)} and
${wer.high.toFixed(0)}).</p>
${compared}${few}
<table>${htmlRow('th', ['recordings', 'words', 'words wrong %', 'letters wrong %', 'words wrong %, tildes ignored'])}
${htmlRow('td', [String(one.recordings), String(one.words), withRange(wer), withRange(one.cer), withRange(one.werWithoutTilde)])}</table>
${groups(one)}${confusions(one)}${confidence(one)}${worst(one)}`;
}

function groups(one: Judgement): string {
  if (one.groups.length === 0) return '';
  const rows = one.groups.map(({ by, group, recordings, wer }) =>
    htmlRow('td', [by, group, String(recordings), withRange(wer)]),
  );
  const head = htmlRow('th', ['by', '', 'recordings', 'words wrong %']);
  return `<h3>Who and what is understood worst</h3><table>${head}${rows.join('')}</table>`;
}

function confusions(one: Judgement): string {
  if (one.confusions.length === 0) return '';
  const rows = one.confusions.map(({ spoken, recognised, count }) =>
    htmlRow('td', [shown(spoken), shown(recognised), String(count)]),
  );
  return `<h3>Letters it confuses</h3><table>${htmlRow('th', ['spoken', 'written', 'times'])}${rows.join('')}</table>`;
}

function shown(letter: string): string {
  if (letter === '') return 'nothing';
  return letter === ' ' ? 'a space' : letter;
}

function confidence({ confidence: quality }: Judgement): string {
  if (quality === null) return '';
  const rows = quality.bins.map(({ from, to, words, right }) =>
    htmlRow('td', [
      `${Math.round(100 * from)} to ${Math.round(100 * to)} %`,
      String(words),
      words === 0 ? '-' : `${Math.round((100 * right) / words)} %`,
    ]),
  );
  return `<h3>Does it know when it is wrong?</h3>
<p>A right word gets a higher score than a wrong one ${Math.round(100 * quality.auc)} times out of 100 (50 is chance).
On average, the score differs from the share of right words by ${(100 * quality.ece).toFixed(1)} points.</p>
${reliabilityPlot([{ name: 'words', colour: '#2b6cb0', bins: quality.bins }])}
<table>${htmlRow('th', ['score', 'words', 'of them right'])}${rows.join('')}</table>`;
}

function worst(one: Judgement): string {
  if (one.worst.length === 0) return '';
  const rows = one.worst.map(({ name, spoken, recognised, errors }) =>
    htmlRow('td', [name, spoken, recognised, String(errors)]),
  );
  const head = htmlRow('th', ['recording', 'spoken', 'written', 'words wrong']);
  return `<h3>Worst sentences</h3><table>${head}${rows.join('')}</table>`;
}
