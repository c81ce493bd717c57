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

/** Debian's Chromium without a user interface, whose windows cost half a second each. A recording becomes its microphone input, once or in a loop. */
export function launchChromium(
  options: { microphone?: string; repeat?: boolean } = {},
): Promise<Browser> {
  const { microphone, repeat = false } = options;
  const hears = `--use-file-for-fake-audio-capture=${microphone}${repeat ? '' : '%noloop'}`;
  return chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium-headless-shell',
    args: microphone === undefined ? FLAGS : [...FLAGS, hears],
  });
}
