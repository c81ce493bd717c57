import { launchChromium } from '@svc-asr/testing/chromium.ts';
import { openFirefox } from './firefox.ts';

/** The minimal interface to a real browser with a fake microphone. */
export interface TestBrowser {
  visit(url: string): Promise<Tab>;
  close(): Promise<void>;
}

export interface Tab {
  /** Evaluates an expression in the page and awaits it there. */
  evaluate<T>(expression: string): Promise<T>;
}

/** Starts a browser whose microphone plays the recording. */
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
