import { afterAll, expect, test } from 'vitest';
import { openContext, startConsoleInChromium } from '../support/console/console-chromium.ts';
import { docsPages, docsProblems } from '../support/console/docs-pages.ts';

const { service, browser, stop } = await startConsoleInChromium();
afterAll(stop);
const context = await openContext(browser, { reducedMotion: 'reduce' });

test.each(await docsPages())(
  '%s passes axe and fits on both devices and in both themes, and contacts no other host',
  async (path) => {
    expect(await docsProblems(context, { url: service.url, path })).toEqual([]);
  },
);
