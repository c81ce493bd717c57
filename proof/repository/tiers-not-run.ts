import { join } from 'node:path';
import type { Reporter, TestModule, Vitest } from 'vitest/node';
import { testFiles, TIERS, tiersOf } from './tiers.ts';

/** Ends the output of whole tiers with the others, which did not run, and their commands. */
export default class TiersNotRun implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(ran: readonly TestModule[]): void {
    const chosen = new Set(this.#vitest?.projects.map(({ name }) => name));
    const files = testFiles(join(import.meta.dirname, '../..')).flatMap(tiersOf);
    const isWhole = ran.length >= files.filter((tier) => chosen.has(tier)).length;
    const others = TIERS.filter((tier) => !chosen.has(tier));
    if (!isWhole || others.length === 0) return;
    const lines = others.map((tier) => {
      const count = files.filter((each) => each === tier).length;
      return `  ${count} files of the ${tier} tier: npm run test:${tier}`;
    });
    this.#vitest?.logger.log(['Not run:', ...lines].join('\n'));
  }
}
