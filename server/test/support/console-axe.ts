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

/** A part of the page, as axe names parts, and the rules for it. Without either: everything. */
export interface AxeScope {
  readonly part?: string;
  readonly only?: readonly string[];
  readonly without?: readonly string[];
}

/** Returns a sentence for each axe violation on the page, of all rules unless the scopes say otherwise. */
export async function violations(
  page: Page,
  scopes: readonly AxeScope[] = [{}],
): Promise<string[]> {
  await page.evaluate(APPEARED);
  await page.evaluate(AXE);
  const found: string[] = [];
  for (const { part = 'html', only, without = [] } of scopes) {
    const rules = Object.fromEntries(without.map((rule) => [rule, { enabled: false }]));
    // No rule of ours needs the style sheets once more.
    const options = { resultTypes: ['violations'], rules, runOnly: only, preload: false };
    const run = `axe.run(${JSON.stringify(part)}, ${JSON.stringify(options)})`;
    const results = await page.evaluate<AxeResults>(run);
    found.push(
      ...results.violations.map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`,
      ),
    );
  }
  return found;
}
