import { round } from '../statistics.ts';
import { figuresOfTally, type Tally } from './score-turns.ts';

export interface TurnResult {
  readonly condition: string;
  readonly otherVoices: boolean;
  /** By the silence that ends a turn, in milliseconds. */
  readonly tallies: ReadonlyMap<number, Tally>;
}

type Figures = Record<string, number>;
/** Figures that are averaged over the conditions. */
const MEANS = ['cut_pct', 'never_pct', 'missed_pct', 'missed_short_pct'] as const;
const COLUMNS = [
  ...MEANS,
  'false_starts_per_hour',
  'false_interruptions_per_hour',
  'start_error_p50_ms',
  'end_error_p5_ms',
  'end_error_p50_ms',
  'end_error_p95_ms',
  'cpu_ms_per_s',
];
const GOALS: readonly (readonly [figure: string, most: number])[] = [
  ['cut_pct', 2],
  ['never_pct', 2],
  ['missed_short_pct', 3],
  ['false_starts_per_hour_telephone_tones', 10],
  ['false_starts_per_hour_barks', 10],
  ['false_starts_per_hour_wind', 10],
  ['false_starts_per_hour_music', 10],
  ['false_starts_per_hour_hold_music', 10],
];

/** The means over all conditions without other voices, then every condition. */
export function turnFigures(
  results: readonly TurnResult[],
  without: ReadonlyMap<string, Tally>,
  silenceMs: number,
): Figures {
  const figures = means(results, silenceMs);
  for (const other of silencesOf(results)) {
    if (other === silenceMs) continue;
    const { cut_pct: cut = 0, never_pct: never = 0 } = means(results, other);
    Object.assign(figures, { [`cut_pct_${other}`]: cut, [`never_pct_${other}`]: never });
  }
  const quiet = [...without].map(([name, tally]) => [name, figuresOfTally(tally)] as const);
  figures['false_starts_per_hour'] = Math.round(
    mean(quiet.map(([, each]) => each['false_starts_per_hour'] ?? 0)),
  );
  for (const [name, each] of quiet) {
    for (const figure of ['false_starts_per_hour', 'false_interruptions_per_hour']) {
      figures[`${figure}_${wordOf(name)}`] = each[figure] ?? 0;
    }
  }
  for (const { condition, tallies } of results) {
    const each = figuresOf(tallies.get(silenceMs));
    for (const name of MEANS) figures[`${name}_${wordOf(condition)}`] = each[name] ?? 0;
  }
  return figures;
}

function means(results: readonly TurnResult[], silenceMs: number): Figures {
  const alone = results.filter(({ otherVoices }) => !otherVoices);
  const each = alone.map(({ tallies }) => figuresOf(tallies.get(silenceMs)));
  const names = [...MEANS, 'start_error_p50_ms', 'end_error_p50_ms', 'cpu_ms_per_s'];
  return Object.fromEntries(
    names.map((name) => {
      const value = mean(each.map((figures) => figures[name] ?? 0));
      return [name, round(value, 2)];
    }),
  );
}

export function turnGoalsMissed(figures: Figures): string[] {
  return GOALS.flatMap(([name, most]) => {
    const value = figures[name] ?? 0;
    return value <= most ? [] : [`${name} is ${value}, at most ${most} wanted`];
  });
}

export function presentTurns(
  results: readonly TurnResult[],
  without: ReadonlyMap<string, Tally>,
  silenceMs: number,
): string {
  const row = (name: string, figures: Figures): string =>
    `| ${name} | ${COLUMNS.map((column) => figures[column] ?? '').join(' | ')} |`;
  const lines = results.map(({ condition, otherVoices, tallies }) =>
    row(`${condition}${otherVoices ? ' *' : ''}`, figuresOf(tallies.get(silenceMs))),
  );
  const silent = [...without].map(
    ([name, tally]) =>
      `| ${name} | ${figuresOf(tally)['false_starts_per_hour'] ?? 0} | ${figuresOf(tally)['false_interruptions_per_hour'] ?? 0} |`,
  );
  const bySilence = silencesOf(results).map((ms) => {
    const { cut_pct: cut, never_pct: never } = means(results, ms);
    return `| ${ms} | ${cut} | ${never} |`;
  });
  return [
    `silence_ms ${silenceMs} (* other voices: not in the mean)`,
    `| condition | ${COLUMNS.join(' | ')} |`,
    `|---${'|---'.repeat(COLUMNS.length)}|`,
    ...lines,
    row('mean', means(results, silenceMs)),
    '',
    '| without speech | false starts per hour | of them not unconfirmed |',
    '|---|---|---|',
    ...silent,
    '',
    '| silence_ms | cut % | never % |',
    '|---|---|---|',
    ...bySilence,
  ].join('\n');
}

function figuresOf(tally: Tally | undefined): Figures {
  return tally === undefined ? {} : figuresOfTally(tally);
}

/** The silences that were measured. `--short` measures one. */
function silencesOf([first]: readonly TurnResult[]): number[] {
  return [...(first?.tallies ?? [])].filter(([, { turns }]) => turns > 0).map(([ms]) => ms);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

function wordOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replace(/_$/, '');
}
