import type { FaultName } from '../faults/faults.ts';

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
  /** The only kind of fault that hunts for it, for bugs that need a rare one. Null: any. */
  readonly fault: FaultName | null;
}

export function mutant(name: string, about: string, ...changes: readonly Change[]): Mutant {
  return { name, about, changes, fault: null };
}

/** Hunts for a mutant with one kind of fault. */
export function during(fault: FaultName, mutated: Mutant): Mutant {
  return { ...mutated, fault };
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
