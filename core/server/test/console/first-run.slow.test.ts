import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSherpaEngine } from '@svc-asr/engine';
import { makeCertificate } from '@svc-asr/testing/certificate.ts';
import { launchChromium } from '@svc-asr/testing/chromium.ts';
import { runPython } from '@svc-asr/testing/python.ts';
import { MODELS_DIR } from '@svc-asr/testing/speech/fixtures.ts';
import { expect, test } from 'vitest';
import {
  openPage,
  shownEnvironment,
  signInAs,
  startConsoleSite,
} from '../support/console/console-chromium.ts';

test('the Python program on the screen prints the words', async () => {
  const certificate = await makeCertificate();
  const engine = await startSherpaEngine({ modelsDir: MODELS_DIR, children: 1 });
  const env = { TLS_CERT_FILE: certificate.certFile, TLS_KEY_FILE: certificate.keyFile };
  const service = await startConsoleSite({ engine, env });
  const browser = await launchChromium();
  const { page } = await openPage(browser);
  await service.admit('snake@example.com');
  await signInAs(page, { service, email: 'snake@example.com' });
  await page.getByRole('button', { name: 'Create a key' }).first().click();
  await page.getByLabel('Name').fill('laptop');
  await page.keyboard.press('Enter');
  await page.getByLabel('Your new API key').waitFor();
  await page.getByText('Python', { exact: true }).click();
  const program = await page.getByRole('region', { name: 'Program: Python' }).innerText();
  const file = join(await mkdtemp(join(tmpdir(), 'svc-first-')), 'words.py');
  await writeFile(file, program);
  const environment = await shownEnvironment(page);
  const stdout = await runPython('python', [file], {
    ...environment,
    SSL_CERT_FILE: certificate.certFile,
  });
  expect(stdout.trim().split('\n').at(-1)).toBe('wĩ mwega nĩndakena nĩ gũkuona');
  await browser.close();
  await service.stop();
  await engine.close();
});
