import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Waits for fade-in animations, which lower the contrast. */
const APPEARED = `Promise.all(
  document.getAnimations()
    .filter((animation) => animation.effect.getTiming().iterations !== Infinity)
    .map((animation) => animation.finished.catch(() => {}))
)`;

/** Returns a sentence for each axe violation on the page, of all rules but those that are left out. */
export async function violations(page: Page, leftOut: readonly string[] = []): Promise<string[]> {
  await page.evaluate(APPEARED);
  await page.evaluate(AXE);
  const rules = Object.fromEntries(leftOut.map((rule) => [rule, { enabled: false }]));
  const options = JSON.stringify({ resultTypes: ['violations'], rules });
  const results = await page.evaluate<AxeResults>(`axe.run(${options})`);
  return results.violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`,
  );
}
