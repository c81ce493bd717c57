import type { Engine } from '@svc-asr/engine';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { makeCertificate } from '@svc-asr/testing/certificate.ts';
import { launchChromium } from '@svc-asr/testing/chromium.ts';
import { findPersonByEmail } from '../../../src/accounts/people/members.ts';
import { setOperator } from '../../../src/accounts/people/operators.ts';
import { openSession } from '../../../src/console/sign-in/browser-sessions.ts';
import { sessionCookie } from '../../../src/console/request/cookies.ts';
import { enrolmentCode } from './console-operator.ts';
import { startConsoleService, type ConsoleService } from './console-service.ts';
import { freePort } from '@svc-asr/local/free-port.ts';

/** Starts the console with its built pages, HTTPS, WSS and a mail server. */
export async function startConsoleSite(
  options: { engine?: Engine; env?: Readonly<Record<string, string>> } = {},
): Promise<ConsoleService> {
  const { certFile, keyFile } = await makeCertificate();
  const port = String(await freePort());
  return startConsoleService({
    env: {
      PORT: port,
      HOST: 'localhost',
      PUBLIC_URL: `https://localhost:${port}`,
      PUBLIC_STREAM_URL: `wss://localhost:${port}`,
      TLS_CERT_FILE: certFile,
      TLS_KEY_FILE: keyFile,
      ...options.env,
    },
    ...(options.engine === undefined ? {} : { parts: { engine: options.engine } }),
  });
}

export interface ConsoleInChromium {
  readonly service: ConsoleService;
  readonly browser: Browser;
  readonly stop: () => Promise<void>;
}

/** Starts the console and Chromium. With `operator`, a person with that address is an operator. */
export async function startConsoleInChromium(
  options: { operator?: string } = {},
): Promise<ConsoleInChromium> {
  const [service, browser] = await Promise.all([startConsoleSite(), launchChromium()]);
  if (options.operator !== undefined) {
    await service.admit(options.operator);
    await setOperator(service.database.pool, { email: options.operator, isOperator: true });
  }
  return {
    service,
    browser,
    async stop() {
      await browser.close();
      await service.stop();
    },
  };
}

interface SignIn {
  readonly service: ConsoleService;
  readonly email: string;
}

/** Opens the console as this person, with the cookie of a new session. */
export async function signInAs(page: Page, input: SignIn & { path?: string }): Promise<void> {
  await addSession(page, input);
  await page.goto(input.service.url + (input.path ?? '/app'));
  await page.locator('main#main').waitFor();
}

/** Gives the page's browser the cookie of a new session. */
export async function addSession(
  page: Page,
  input: SignIn & { verifiedBy?: 'code' | 'passkey' },
): Promise<void> {
  const { service, email, verifiedBy = 'code' } = input;
  const db = service.database.pool;
  const person = await findPersonByEmail(db, email);
  if (person === null) throw new Error(`${email} may not sign in.`);
  const userAgent = await page.evaluate<string>('navigator.userAgent');
  const token = await openSession(db, { userId: person.id, verifiedBy, userAgent });
  const [name = '', value = ''] = sessionCookie(token).split(/[=;]/);
  const flags = { httpOnly: true, secure: true, sameSite: 'Lax' } as const;
  await page.context().addCookies([{ name, value, url: service.url, ...flags }]);
}

/** Signs in with an emailed code, through the form. */
export async function signInWithCode(page: Page, { service, email }: SignIn): Promise<void> {
  await page.goto(`${service.url}/app`);
  await page.getByLabel('Email address').fill(email);
  await page.getByRole('button', { name: 'Email me a code' }).click();
  await page.getByLabel('Code').fill(await service.mail.takeCode(email));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('main#main').waitFor();
}

export interface WatchedPage {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Errors and policy violations that the browser reported. */
  readonly complaints: string[];
}

type ContextOptions = Parameters<Browser['newContext']>[0];

export async function openPage(
  browser: Browser,
  options: ContextOptions = {},
): Promise<WatchedPage> {
  return openTab(await openContext(browser, options));
}

export function openContext(
  browser: Browser,
  options: ContextOptions = {},
): Promise<BrowserContext> {
  return browser.newContext({ ignoreHTTPSErrors: true, locale: 'en-GB', ...options });
}

export async function openTab(context: BrowserContext): Promise<WatchedPage> {
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    // Chromium reports every 4xx response as an error, and some journeys expect them.
    const refused = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !refused) complaints.push(message.text());
  });
  return { context, page, complaints };
}

/** A virtual device that holds passkeys and answers every prompt. */
export async function plugInDevice(page: Page, isUserVerified: boolean): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified,
      automaticPresenceSimulation: true,
    },
  });
}

/** Enrols an operator: adds a passkey in the settings with a code from svc-admin, and signs in with it. */
export async function signInWithNewPasskey(page: Page, input: SignIn): Promise<void> {
  await plugInDevice(page, true);
  await signInAs(page, { ...input, path: '/app/settings' });
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByLabel('Name').fill('operator key');
  await page.getByLabel('Enrolment code').fill(await enrolmentCode(input.service, input.email));
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('operator key').first().waitFor();
  await page.locator('summary').filter({ hasText: '@example.com' }).click();
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.getByRole('button', { name: 'Use a passkey' }).click();
  await page.locator('main#main').waitFor();
}

/** Everything without a pointer: moves the focus on to an element, and presses a key there. */
export async function pressAt(page: Page, name: string, key: string): Promise<void> {
  const isThere = `(({ labels, textContent, ariaLabel }) =>
    [textContent, labels?.[0]?.textContent, ariaLabel].join().includes(${JSON.stringify(name)})
      && document.activeElement.matches('a, button, input, textarea'))(document.activeElement)`;
  for (let tabs = 0; tabs < 60; tabs += 1) {
    if (await page.evaluate<boolean>(isThere)) return page.keyboard.press(key);
    await page.keyboard.press('Tab');
  }
  throw new Error(`The focus does not reach "${name}".`);
}

/** Reads the variables that the first steps show for a terminal, as a shell would. */
export async function shownEnvironment(page: Page): Promise<Record<string, string>> {
  const shown = await page.getByRole('region', { name: 'In a terminal' }).innerText();
  const lines = shown.matchAll(/^export (\w+)=(.*)$/gm);
  return Object.fromEntries([...lines].map(([, name, value]) => [name, value]));
}
