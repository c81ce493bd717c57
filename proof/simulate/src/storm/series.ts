import { scheduler } from '../virtual/scheduler.ts';

type Row = Record<string, number>;

/** Counts and peaks of each second of a run, by name. */
export class Series {
  readonly #rows: Row[] = [];

  count(name: string, by = 1): void {
    const row = this.#now();
    row[name] = (row[name] ?? 0) + by;
  }

  peak(name: string, value: number): void {
    const row = this.#now();
    row[name] = Math.max(row[name] ?? 0, value);
  }

  /** The values of one name, a second each. */
  values(name: string, fromMs = 0, toMs = scheduler.nowMs): number[] {
    const from = Math.floor(fromMs / 1000);
    const seconds = Math.ceil(toMs / 1000) - from;
    return Array.from({ length: seconds }, (_, at) => this.#rows[from + at]?.[name] ?? 0);
  }

  sum(name: string, fromMs = 0, toMs = scheduler.nowMs): number {
    return this.values(name, fromMs, toMs).reduce((sum, value) => sum + value, 0);
  }

  /** The sum of each name that begins with a prefix. */
  sums(prefix: string, fromMs: number): Record<string, number> {
    const names = new Set(this.#rows.flatMap((row) => Object.keys(row)));
    const found = [...names].filter((name) => name.startsWith(prefix));
    return Object.fromEntries(
      found.map((name) => [name.slice(prefix.length), this.sum(name, fromMs)]),
    );
  }

  #now(): Row {
    return (this.#rows[Math.floor(scheduler.nowMs / 1000)] ??= {});
  }
}
