import type { Exported } from './export-run.ts';

/** Past runs, kept by this browser alone for the person who made them. */
export interface PastRun extends Exported {
  readonly id: string;
  readonly at: number;
}

const NAME = 'playground-history';
const RUNS_MAX = 10;
const CHARACTERS_MAX = 400_000;

/** Returns the runs of this person. Those of anyone else are deleted. */
export function readHistory(email: string): PastRun[] {
  try {
    const stored: { email: string; runs: PastRun[] } | null = JSON.parse(
      localStorage.getItem(NAME) ?? 'null',
    );
    if (stored?.email === email) return stored.runs;
    clearHistory();
  } catch {
    // Storage is blocked, or holds something else.
  }
  return [];
}

/** Adds a run, and drops the oldest beyond the limits. */
export function addToHistory(email: string, run: Exported): PastRun[] {
  const added = { ...run, id: crypto.randomUUID(), at: Date.now() };
  let runs = [added, ...readHistory(email)].slice(0, RUNS_MAX);
  while (runs.length > 1 && JSON.stringify(runs).length > CHARACTERS_MAX) runs = runs.slice(0, -1);
  try {
    localStorage.setItem(NAME, JSON.stringify({ email, runs }));
  } catch {
    // Storage is blocked or full: the history lasts until the page is closed.
  }
  return runs;
}

export function clearHistory(): void {
  try {
    localStorage.removeItem(NAME);
  } catch {
    // Storage is blocked, so there is nothing to clear.
  }
}
