import { launchChromium } from '@svc-asr/testing/chromium.ts';
import { describe } from 'vitest';
import { testPackageIn } from './test-package.ts';

describe('K03 the installed package streams the microphone in Chromium, and its page has no key', () => {
  testPackageIn(async (microphone) => {
    const browser = await launchChromium({ microphone, repeat: true });
    return {
      async visit(url) {
        const page = await browser.newPage();
        await page.goto(url);
        return page;
      },
      close: () => browser.close(),
    };
  });
});
