import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Ends fade-in animations, which lower the contrast. */
const APPEAR = `for (const animation of document.getAnimations()) {
  if (animation.effect.getTiming().iterations !== Infinity) animation.finish();
}`;

/** The slowest rule, which is two thirds of a run if it checks every element. */
const CONTRAST = 'color-contrast';
const COLOURS = [CONTRAST, 'link-in-text-block'];
const SAMPLE = 'data-colour-sample';

/** Marks two elements for each combination of text colour, font size and the backgrounds behind them. */
const MARK_SAMPLES = `(() => {
  const surfaces = new Map([[null, '']]);
  const surfaceOf = (element) => {
    if (!surfaces.has(element)) {
      const { backgroundColor, backgroundImage, opacity, position, clip, clipPath } = getComputedStyle(element);
      const own = [backgroundColor, backgroundImage, opacity, position, clip, clipPath].join();
      surfaces.set(element, surfaceOf(element.parentElement) + (own === PLAIN ? '' : own + ';'));
    }
    return surfaces.get(element);
  };
  const PLAIN = 'rgba(0, 0, 0, 0),none,1,static,auto,none';
  const DISABLED = ':disabled, :disabled *, [aria-disabled=true]';
  const hasText = ({ childNodes }) => [...childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
  const kinds = new Map();
  for (const element of document.querySelectorAll('body *')) {
    element.removeAttribute('${SAMPLE}');
    if (!element.checkVisibility() || !(hasText(element) || element.matches('input, select, textarea'))) continue;
    const { color, fontSize, fontWeight } = getComputedStyle(element);
    const kind = [surfaceOf(element), color, fontSize, fontWeight, element.localName, element.matches(DISABLED)].join();
    kinds.set(kind, [kinds.get(kind)?.[0] ?? element, element]);
  }
  for (const element of [...kinds.values()].flat()) element.setAttribute('${SAMPLE}', '');
})()`;

/** Returns a sentence for each violation of any axe rule on the page. Elements that look alike are checked twice for contrast. */
export function violations(page: Page): Promise<string[]> {
  return run(page, {});
}

/** Checks only the colours, which another theme or layout changes. */
export function colourViolations(page: Page): Promise<string[]> {
  return run(page, { runOnly: COLOURS });
}

async function run(page: Page, options: RunOptions): Promise<string[]> {
  await page.evaluate(APPEAR);
  if (!(await page.evaluate<boolean>(`'axe' in window`))) {
    await page.evaluate(AXE);
    const rule = { id: CONTRAST, selector: `[${SAMPLE}]` };
    await page.evaluate(`axe.configure({ rules: [${JSON.stringify(rule)}] })`);
  }
  await page.evaluate(MARK_SAMPLES);
  // No rule of ours needs the style sheets once more.
  const all: RunOptions = { resultTypes: ['violations'], preload: false, ...options };
  const results = await page.evaluate<AxeResults>(`axe.run(${JSON.stringify(all)})`);
  return results.violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`,
  );
}
