import { createEnrolment, setOperator } from '../../../src/accounts/people/operators.ts';
import type { ErrorBody } from '@svc-asr/protocol';
import type { PasskeyList } from '@svc-asr/protocol/console/console.ts';
import { TestBrowser, type ConsoleAnswer, type ConsoleService } from './console-service.ts';
import { SoftwareAuthenticator } from '../software-authenticator.ts';

type CreationOptions = Parameters<SoftwareAuthenticator['create']>[0];
type RequestOptions = Parameters<SoftwareAuthenticator['get']>[0];

/** An operator with two browsers, one signed in with a code and one with a passkey. */
export interface Operator {
  readonly withCode: TestBrowser;
  readonly browser: TestBrowser;
  readonly device: SoftwareAuthenticator;
  /** Uses the passkey again in a signed-in browser. */
  confirm(browser?: TestBrowser): Promise<ConsoleAnswer<ErrorBody>>;
}

export async function startOperator(service: ConsoleService, email: string): Promise<Operator> {
  await service.admit(email);
  await setOperator(service.database.pool, { email, isOperator: true });
  const withCode = new TestBrowser(service.url);
  await withCode.signIn(email, service.mail);
  const device = new SoftwareAuthenticator(service.config.console.publicUrl);
  const code = await enrolmentCode(service, email);
  const added = await addPasskey(withCode, device, code);
  if (added.status !== 201) throw new Error(`Could not add a passkey: ${added.status}`);
  const browser = new TestBrowser(service.url);
  const answer = await signInWithPasskey(browser, device);
  if (answer.status !== 200) throw new Error(`Could not sign in: ${answer.status}`);
  return {
    withCode,
    browser,
    device,
    confirm: (at = browser) => confirmWithPasskey(at, device),
  };
}

/** As `svc-admin operators enrol` does. */
export async function enrolmentCode(service: ConsoleService, email: string): Promise<string> {
  const enrolment = await createEnrolment(service.database.pool, email);
  if (typeof enrolment === 'string') throw new Error(`Could not create a code: ${enrolment}`);
  return enrolment.code;
}

/** Adds a passkey as the console does. Stops at the first refusal. */
export async function addPasskey(
  browser: TestBrowser,
  device: SoftwareAuthenticator,
  code?: string,
): Promise<ConsoleAnswer<PasskeyList & ErrorBody>> {
  const enrolment = code === undefined ? {} : { enrolment_code: code };
  const asked = await browser.post<CreationOptions & PasskeyList & ErrorBody>(
    '/passkeys/options',
    enrolment,
  );
  if (asked.status !== 200) return asked;
  const credential = device.create(asked.body);
  return browser.post('/passkeys', { ...enrolment, name: 'key', credential });
}

export async function signInWithPasskey(
  browser: TestBrowser,
  device: SoftwareAuthenticator,
): Promise<ConsoleAnswer<ErrorBody>> {
  const { body } = await browser.post<RequestOptions>('/sign-in/passkey/options');
  return browser.post('/sign-in/passkey', { credential: device.get(body) });
}

/** Uses the passkey again in a signed-in browser. */
export async function confirmWithPasskey(
  browser: TestBrowser,
  device: SoftwareAuthenticator,
): Promise<ConsoleAnswer<ErrorBody>> {
  const asked = await browser.post<RequestOptions>('/confirm/options');
  return browser.post('/confirm', { credential: device.get(asked.body) });
}
