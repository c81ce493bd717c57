import { installGlobals } from '../virtual/globals.ts';
import { findMutant } from './all-mutants.ts';
import type { HuntMessage } from './hunt.ts';
import { openMutantLedger } from './mutant-ledger.ts';
import { plant } from './plant.ts';

/**
 * Runs seeds with a planted bug until one finds it. Started by `hunt.ts`, which gives it the range of seeds. With `clean`
 * the bug is not planted.
 */

const [name = '', from, seeds, isClean] = process.argv.slice(2);
const mutant = findMutant(name);
const openLedger = await openMutantLedger(mutant.sql, isClean === 'clean');
const checkPlanted = isClean === 'clean' ? null : plant(mutant);
installGlobals();
const { planFor } = await import('../world/plan.ts');
const { runPlan } = await import('../run/run-plan.ts');
checkPlanted?.();

function tell(message: HuntMessage): Promise<void> {
  return new Promise((resolve) => process.send?.(message, undefined, undefined, () => resolve()));
}

for (let seed = Number(from); seed < Number(from) + Number(seeds); seed += 1) {
  await tell({ seed });
  const plan = planFor(seed, mutant.faults);
  const { violations } = await runPlan(plan, openLedger);
  const [violation] = violations;
  if (violation === undefined) continue;
  await tell({ seed, violation });
  break;
}
process.exit(0);
