import { MUTANTS } from './all-mutants.ts';
import { hunt } from './hunt.ts';
import { readTable, writeTable } from './table.ts';

/** Every planted bug must be found within this many seeds. */
export const SEEDS_MAX = 100_000;

/**
 * Hunts every mutant, or the named ones, and prints one line each. Tries the seed of the page first, and updates the page
 * after each hunt. Returns the names of those that were not found.
 */
export async function huntAll(options: {
  readonly only: readonly string[];
  readonly from: number;
  readonly seeds: number;
  readonly print: (line: string) => void;
}): Promise<string[]> {
  const { only, from, seeds, print } = options;
  const hunted = MUTANTS.filter(({ harmless }) => harmless === undefined);
  const chosen = hunted.filter(({ name }) => only.length === 0 || only.includes(name));
  if (chosen.length === 0) throw new RangeError(`There is no mutant ${only.join(' or ')}.`);
  const missed: string[] = [];
  for (const mutant of chosen) {
    const { name } = mutant;
    const known = (await readTable()).get(name);
    const again = known === undefined ? null : await hunt(mutant, { from: known.seed, seeds: 1 });
    const finding = again ?? (await hunt(mutant, { from, seeds }));
    // Another hunt may have changed the page meanwhile.
    const page = await readTable();
    if (finding === null) {
      missed.push(name);
      page.delete(name);
      print(`${name}: not found in ${seeds} seeds`);
    } else {
      page.set(name, finding);
      print(`${name}: seed ${finding.seed}, ${finding.violation}`);
    }
    await writeTable(page);
  }
  return missed;
}
