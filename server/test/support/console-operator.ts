import { setOperator } from '../../src/accounts/operators.ts';
import { TestBrowser, type ConsoleAnswer, type ConsoleService } from './console-service.ts';
import { SoftwareAuthenticator } from './software-authenticator.ts';

type CreationOptions = Parameters<SoftwareAuthenticator['create']>[0];
type RequestOptions = Parameters<SoftwareAuthenticator['get']>[0];

/** An operator with two browsers, one signed in with a code and one with a passkey. */
export interface Operator {
  readonly withCode: TestBrowser;
  readonly browser: TestBrowser;
  /** Uses the passkey again in a signed-in browser. */
  confirm(browser?: TestBrowser): Promise<ConsoleAnswer<unknown>>;
}

export async function startOperator(service: ConsoleService, email: string): Promise<Operator> {
  const withCode = await service.signedIn(email);
  await setOperator(service.database.pool, { email, isOperator: true });
  const device = new SoftwareAuthenticator(service.config.publicUrl);
  const creation = await withCode.post<CreationOptions>('/passkeys/options');
  await withCode.post('/passkeys', { name: 'key', credential: device.create(creation.body, {}) });
  const browser = new TestBrowser(service.url);
  const { body } = await browser.post<RequestOptions>('/sign-in/passkey/options');
  const answer = await browser.post('/sign-in/passkey', { credential: device.get(body, {}) });
  if (answer.status !== 200) throw new Error(`Could not sign in: ${answer.status}`);
  return {
    withCode,
    browser,
    async confirm(at = browser) {
      const asked = await at.post<RequestOptions>('/operator/confirm/options');
      return at.post('/operator/confirm', { credential: device.get(asked.body, {}) });
    },
  };
}
