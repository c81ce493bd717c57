import { confidenceQuality, type ConfidenceQuality } from '../confidence.ts';
import { htmlRow, presentRows } from './present.ts';
import { reliabilityPlot } from './reliability-plot.ts';
import { characterErrorRate, wordErrorRate } from '../scoring.ts';
import type { Result } from '../measure.ts';
import { LANGUAGE_NAMES, LANGUAGES } from '../sets.ts';

export interface Report {
  readonly title: string;
  readonly note: string;
  readonly results: readonly Result[];
  readonly wordsWithoutSpeech: ReadonlyMap<string, number>;
}

/** Goals: word error rates in percent. */
const GOALS: Readonly<Record<string, number>> = {
  'seen voices': 5,
  'unseen voices': 10,
  festival: 40,
  telephone: 15,
};

const COLOURS = { ki: '#2b6cb0', luo: '#c05621' } as const;
const HEADINGS = [
  'condition',
  'language',
  'sentences',
  'WER %',
  'CER %',
  'WER % without tilde',
  'confidence AUC',
  'confidence ECE',
];

function cells(result: Result): string[] {
  const quality = confidenceQuality(result.scoredWords);
  return [
    result.condition,
    LANGUAGE_NAMES[result.language],
    String(result.score.utterances),
    wordErrorRate(result.score).toFixed(1),
    characterErrorRate(result.score).toFixed(1),
    wordErrorRate(result.scoreWithoutTilde).toFixed(1),
    quality === null ? '-' : quality.auc.toFixed(3),
    quality === null ? '-' : quality.ece.toFixed(3),
  ];
}

/** How good the confidence is in all conditions together, by language. */
function confidenceByLanguage(
  report: Report,
): { language: Result['language']; quality: ConfidenceQuality }[] {
  return LANGUAGES.flatMap((language) => {
    const mine = report.results.filter((result) => result.language === language);
    const quality = confidenceQuality(mine.flatMap((result) => result.scoredWords));
    return quality === null ? [] : [{ language, quality }];
  });
}

/** Returns the table for the terminal. */
export function presentTable(report: Report): string {
  const total = [...report.wordsWithoutSpeech.values()].reduce((sum, count) => sum + count, 0);
  const sounds = [...report.wordsWithoutSpeech].filter(([, count]) => count > 0);
  const which = sounds.map(([sound, count]) => `${sound} ${count}`).join(', ');
  return [
    report.title,
    report.note,
    '',
    presentRows([HEADINGS, ...report.results.map(cells)]),
    '',
    ...confidenceByLanguage(report).map(
      ({ language, quality }) =>
        `confidence, ${LANGUAGE_NAMES[language]}: AUC ${quality.auc.toFixed(3)} for right against wrong words, ` +
        `expected calibration error ${quality.ece.toFixed(3)} (${quality.words} words)`,
    ),
    `words written without speech: ${total}${which === '' ? '' : ` (${which})`}`,
  ].join('\n');
}

/** Figures with stable names. */
export function figuresOf(report: Report): Record<string, number> {
  const figures: Record<string, number> = {};
  const names: Readonly<Record<string, string>> = {
    'seen voices': 'seen',
    'unseen voices': 'unseen',
    festival: 'festival',
    telephone: 'telephone',
    fixtures: 'fixtures',
    'white noise': 'white',
    babble: 'babble',
  };
  for (const result of report.results) {
    const name = `${result.language}_${names[result.condition] ?? result.condition}`;
    figures[`wer_${name}`] = wordErrorRate(result.score);
    figures[`cer_${name}`] = characterErrorRate(result.score);
    figures[`wer_${name}_without_tilde`] = wordErrorRate(result.scoreWithoutTilde);
    addConfidence(figures, `_${name}`, confidenceQuality(result.scoredWords));
  }
  for (const { language, quality } of confidenceByLanguage(report)) {
    addConfidence(figures, `_${language}`, quality);
  }
  const everyWord = report.results.flatMap(({ scoredWords }) => scoredWords);
  addConfidence(figures, '', confidenceQuality(everyWord));
  for (const language of LANGUAGES) {
    for (const rate of ['wer', 'cer']) {
      const white = figures[`${rate}_${language}_white`];
      const babble = figures[`${rate}_${language}_babble`];
      if (white === undefined || babble === undefined) continue;
      figures[`${rate}_${language}_noise`] = Math.round(5 * (white + babble)) / 10;
    }
  }
  const counts = [...report.wordsWithoutSpeech.values()];
  figures['words_on_silence'] = counts.reduce((sum, count) => sum + count, 0);
  return figures;
}

function addConfidence(
  figures: Record<string, number>,
  suffix: string,
  quality: ConfidenceQuality | null,
): void {
  if (quality === null) return;
  figures[`confidence_auc${suffix}`] = quality.auc;
  figures[`confidence_ece${suffix}`] = quality.ece;
}

/** Returns one sentence per missed goal. */
export function missedGoals(report: Report): string[] {
  const missed = report.results.flatMap((result) => {
    const goal = GOALS[result.condition];
    const rate = wordErrorRate(result.score);
    if (goal === undefined || rate <= goal) return [];
    const name = LANGUAGE_NAMES[result.language];
    return [`${name}, ${result.condition}: WER ${rate} %, the goal is ${goal} %`];
  });
  const written = [...report.wordsWithoutSpeech.values()].reduce((sum, count) => sum + count, 0);
  if (written > 0) missed.push(`${written} words written without speech, the goal is none`);
  return missed;
}

/** Returns a self-contained HTML report. */
export function presentPage(report: Report): string {
  const sounds = [...report.wordsWithoutSpeech].map(([sound, count]) =>
    htmlRow('td', [sound, String(count)]),
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>${report.title}</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
  table { border-collapse: collapse; margin: 1rem 0 }
  td, th { padding: 0.25rem 0.75rem; border-bottom: 1px solid #ccc; text-align: left }
</style>
<h1>${report.title}</h1>
<p><strong>${report.note}</strong></p>
${bars(report.results)}
<table>${htmlRow('th', HEADINGS)}${report.results.map((result) => htmlRow('td', cells(result))).join('')}</table>
${confidenceSection(report)}
<h2>Where nobody speaks</h2>
<table>${htmlRow('th', ['sound', 'words written'])}${sounds.join('')}</table>
</html>
`;
}

function confidenceSection(report: Report): string {
  const found = confidenceByLanguage(report);
  if (found.length === 0) return '';
  const rows = found.map(({ language, quality }) =>
    htmlRow('td', [
      LANGUAGE_NAMES[language],
      String(quality.words),
      quality.auc.toFixed(3),
      quality.ece.toFixed(3),
    ]),
  );
  const series = found.map(({ language, quality }) => ({
    name: LANGUAGE_NAMES[language],
    colour: COLOURS[language],
    bins: quality.bins,
  }));
  return `<h2>Confidence</h2>
<p>AUC: how often a right word has a higher confidence than a wrong one (0.5 is chance). ECE: the mean difference between the
confidence and the share of right words. All conditions together.</p>
<table>${htmlRow('th', ['language', 'words', 'AUC', 'ECE'])}${rows.join('')}</table>
${reliabilityPlot(series)}`;
}

const BAR_HEIGHT = 22;
const SCALE = 5;
const LABEL_WIDTH = 210;

/** Draws one bar per word error rate and a line for its goal. */
function bars(results: readonly Result[]): string {
  const drawn = results.map((result, i) => {
    const rate = wordErrorRate(result.score);
    const goal = GOALS[result.condition];
    const top = i * BAR_HEIGHT;
    const colour = COLOURS[result.language];
    const goalAt = LABEL_WIDTH + (goal ?? 0) * SCALE;
    const line =
      goal === undefined
        ? ''
        : `<line x1="${goalAt}" x2="${goalAt}" y1="${top}" y2="${top + BAR_HEIGHT}" stroke="black"/>`;
    const width = Math.min(100, rate) * SCALE;
    return `<text x="0" y="${top + 16}">${LANGUAGE_NAMES[result.language]}, ${result.condition}</text>
<rect x="${LABEL_WIDTH}" y="${top + 3}" width="${width}" height="${BAR_HEIGHT - 6}" fill="${colour}"/>
<text x="${LABEL_WIDTH + width + 6}" y="${top + 16}">${rate.toFixed(1)}</text>${line}`;
  });
  const height = results.length * BAR_HEIGHT;
  const width = LABEL_WIDTH + 100 * SCALE + 60;
  return `<svg viewBox="0 0 ${width} ${height}" role="img" font-size="13"
  aria-label="Word error rate by condition; a line marks the goal">${drawn.join('\n')}</svg>`;
}
