import { chromium, type Browser } from 'playwright-core';

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--use-fake-device-for-media-stream',
  '--use-fake-ui-for-media-stream',
];

interface ChromiumOptions {
  /** A recording that becomes the microphone's input, once or in a loop. */
  readonly microphone?: string;
  readonly repeat?: boolean;
  /** With the browser's own pages, such as its warning of a certificate. A page then costs ten times the CPU time. */
  readonly whole?: boolean;
}

/** Debian's Chromium. */
export function launchChromium(options: ChromiumOptions = {}): Promise<Browser> {
  const { microphone, repeat = false, whole = false } = options;
  const hears = `--use-file-for-fake-audio-capture=${microphone}${repeat ? '' : '%noloop'}`;
  return chromium.launch({
    executablePath: whole ? '/usr/bin/chromium' : '/usr/bin/chromium-headless-shell',
    args: microphone === undefined ? FLAGS : [...FLAGS, hears],
  });
}
