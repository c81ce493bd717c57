import { InvalidAnswer } from '../recogniser-answer.ts';

/** Bucket counts of a Prometheus histogram: one per bound and one above the last. */
export interface Distribution {
  readonly counts: number[];
  sum: number;
}

/** Counts and times that recognisers measure. */
export interface DecodeFigures {
  /** Streams decoded together. */
  readonly batchStreams: Distribution;
  /** From when a stream had something to decode to the start of its decode. */
  readonly waitSeconds: Distribution;
  /** One decode of one batch. */
  readonly decodeSeconds: Distribution;
}

export const DECODE_BOUNDS = {
  batchStreams: [1, 2, 4, 8, 16, 32, 64, 128],
  waitSeconds: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  decodeSeconds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
} as const satisfies Record<keyof DecodeFigures, readonly number[]>;

const NAMES = ['batchStreams', 'waitSeconds', 'decodeSeconds'] as const;

export function noFigures(): DecodeFigures {
  return {
    batchStreams: none(DECODE_BOUNDS.batchStreams),
    waitSeconds: none(DECODE_BOUNDS.waitSeconds),
    decodeSeconds: none(DECODE_BOUNDS.decodeSeconds),
  };
}

function none(bounds: readonly number[]): Distribution {
  return { counts: Array.from({ length: bounds.length + 1 }, () => 0), sum: 0 };
}

export function count(figures: DecodeFigures, name: keyof DecodeFigures, value: number): void {
  const distribution = figures[name];
  const at = DECODE_BOUNDS[name].findIndex((bound) => value <= bound);
  const index = at === -1 ? DECODE_BOUNDS[name].length : at;
  distribution.counts[index] = (distribution.counts[index] ?? 0) + 1;
  distribution.sum += value;
}

export function addFigures(total: DecodeFigures, more: DecodeFigures): void {
  for (const name of NAMES) {
    const into = total[name];
    for (const [at, counted] of more[name].counts.entries()) {
      into.counts[at] = (into.counts[at] ?? 0) + counted;
    }
    into.sum += more[name].sum;
  }
}

/** Validates the figures of a recogniser, because it parses untrusted audio. */
export function readFigures(text: string): DecodeFigures {
  const parsed: unknown = JSON.parse(text);
  const read = noFigures();
  if (typeof parsed !== 'object' || parsed === null) throw new InvalidAnswer('figures');
  for (const name of NAMES) {
    const { counts, sum } = { counts: null, sum: null, ...Reflect.get(parsed, name) };
    if (!Array.isArray(counts) || counts.length !== read[name].counts.length) {
      throw new InvalidAnswer('figures');
    }
    const values: unknown[] = [...counts, sum];
    if (!values.every(isFigure)) throw new InvalidAnswer('figures');
    counts.forEach((value: number, at) => (read[name].counts[at] = value));
    read[name].sum = Number(sum);
  }
  return read;
}

function isFigure(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER;
}
