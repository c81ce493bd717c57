import { launchChromium } from '@svc-asr/testing/chromium.ts';
import { openFirefox } from './firefox.ts';

/** A real browser with a fake microphone, and as little of it as the tests of the SDK need. */
export interface TestBrowser {
  visit(url: string): Promise<Tab>;
  close(): Promise<void>;
}

export interface Tab {
  /** The value of an expression in the page, awaited there. */
  evaluate<T>(expression: string): Promise<T>;
}

/** Their microphones hear the recording. */
export const BROWSERS: Readonly<Record<string, (wav: string) => Promise<TestBrowser>>> = {
  async Chromium(wav) {
    const browser = await launchChromium({ microphone: wav, repeat: true });
    return {
      async visit(url) {
        const page = await browser.newPage();
        await page.goto(url);
        return page;
      },
      close: () => browser.close(),
    };
  },
  Firefox: openFirefox,
};
