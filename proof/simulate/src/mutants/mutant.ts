import type { SqlChange } from '@svc-asr/testing/postgres/mutate-function.ts';
import type { FaultName } from '../world/faults.ts';

/** A piece of source that is replaced. */
export interface Change {
  /** The file, from the root of the repository. */
  readonly in: string;
  /** Must occur exactly once. */
  readonly from: string;
  readonly to: string;
}

/** A bug that is planted in the real code to see whether the simulation finds it. */
export interface Mutant {
  readonly name: string;
  /** What the code then does wrong. */
  readonly about: string;
  readonly changes: readonly Change[];
  /** For bugs in SQL. */
  readonly sql: readonly SqlChange[] | null;
  /** Why no run can show it: another part prevents the harm. */
  readonly harmless?: string;
  /** The only kinds of faults that hunt for it, for bugs that need rare ones. Empty: any. */
  readonly faults: readonly FaultName[];
}

export function mutant(name: string, about: string, ...changes: readonly Change[]): Mutant {
  return { name, about, changes, sql: null, faults: [] };
}

/** Hunts for a mutant with some kinds of faults. */
export function during(faults: FaultName | readonly FaultName[], mutated: Mutant): Mutant {
  return { ...mutated, faults: typeof faults === 'string' ? [faults] : faults };
}

/** A bug that does no harm, because another part prevents it. It is not hunted. */
export function harmless(why: string, mutated: Mutant): Mutant {
  return { ...mutated, harmless: why };
}

/** Applies the changes for one file. Throws if a piece is missing or ambiguous, so that no mutant silently does nothing. */
export function mutate(source: string, changes: readonly Change[]): string {
  let mutated = source;
  for (const { in: file, from, to } of changes) {
    const count = mutated.split(from).length - 1;
    if (count !== 1) throw new Error(`${file} contains this ${count} times, not once: ${from}`);
    // A function, because `$` has a meaning in a replacement text.
    mutated = mutated.replace(from, () => to);
  }
  return mutated;
}
