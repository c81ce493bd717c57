import { MUTANTS } from './all-mutants.ts';
import { hunt, type Found } from './hunt.ts';
import { readTable, writeTable } from './table.ts';

/** Every planted bug must be found within this many seeds. */
export const SEEDS_MAX = 100_000;

/**
 * Hunts every mutant, or the named one, and prints one line each. Tries the seed of the page first. Writes the page after
 * a complete hunt. Returns the names of those that were not found.
 */
export async function huntAll(options: {
  readonly only: string | null;
  readonly seeds: number;
  readonly print: (line: string) => void;
}): Promise<string[]> {
  const chosen = MUTANTS.filter(({ name }) => options.only === null || name === options.only);
  if (chosen.length === 0) throw new RangeError(`There is no mutant ${options.only ?? ''}.`);
  const known = await readTable();
  const found = new Map<string, Found>();
  for (const mutant of chosen) {
    const seed = known.get(mutant.name);
    const again = seed === undefined ? null : await hunt(mutant, { from: seed, seeds: 1 });
    const finding = again ?? (await hunt(mutant, { from: 1, seeds: options.seeds }));
    if (finding !== null) found.set(mutant.name, finding);
    options.print(
      finding === null
        ? `${mutant.name}: not found in ${options.seeds} seeds`
        : `${mutant.name}: seed ${finding.seed}, ${finding.violation}`,
    );
  }
  if (options.only === null) await writeTable(found);
  return chosen.map(({ name }) => name).filter((name) => !found.has(name));
}
