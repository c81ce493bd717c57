import type { Page } from 'playwright-core';
import { activate } from '../activate.ts';
import type { ConsoleService } from './console-service.ts';

/** Every screen of the console in every state it can be in, and how to get there. */

export interface Scene {
  readonly name: string;
  readonly path: string;
  /** Changes what the page is going to load. */
  readonly before?: (page: Page, service: ConsoleService) => Promise<unknown>;
  readonly shown: (page: Page) => Promise<unknown>;
}

/** Where the pages of these addresses of the API are. */
const PATHS: Readonly<Record<string, string>> = {
  overview: '/app',
  usage: '/app/usage',
  log: '/app/log',
  operator: '/app/operator',
  'credit-requests': '/app/credit',
};

export const PUBLIC: readonly Scene[] = [
  { name: 'public', path: '/', shown: (page) => page.getByRole('heading', { level: 1 }).waitFor() },
  {
    name: 'public-sw',
    path: '/sw',
    shown: (page) => page.getByRole('heading', { level: 1 }).waitFor(),
  },
  {
    name: 'waitlist-invalid',
    path: '/#waitlist',
    async shown(page) {
      await page.getByRole('button', { name: 'Join the waitlist' }).click();
      await page.getByText('Enter an email address').waitFor();
    },
  },
  {
    name: 'waitlist-joined',
    path: '/#waitlist',
    async shown(page) {
      await page.getByLabel('Email address').fill('wambui@example.com');
      await page.getByRole('button', { name: 'Join the waitlist' }).click();
      await page.getByRole('heading', { name: "You're on the list" }).waitFor();
    },
  },
  {
    name: 'sign-in',
    path: '/app',
    shown: (page) => page.getByRole('heading', { name: 'Sign in' }).waitFor(),
  },
  {
    name: 'sign-in-no-email',
    path: '/app',
    before: (page, { url }) => fulfil(page, 'sign-in/methods', { email: false, origin: url }),
    shown: (page) => page.getByText('not set up to send email').waitFor(),
  },
  {
    name: 'sign-in-wrong-address',
    path: '/app/keys',
    before: (page) =>
      fulfil(page, 'sign-in/methods', { email: true, origin: 'https://console.example.org' }),
    async shown(page) {
      await page.getByText(`You opened ${new URL(page.url()).origin}`).waitFor();
      await page.locator('a[href="https://console.example.org/app/keys"]').waitFor();
    },
  },
  {
    name: 'sign-in-invalid',
    path: '/app',
    async shown(page) {
      await page.getByLabel('Email address').fill('amina@');
      await page.getByRole('button', { name: 'Email me a code' }).click();
      await page.getByText('Enter an email address').waitFor();
    },
  },
  {
    name: 'sign-in-code-wrong',
    path: '/app',
    async shown(page) {
      await page.getByLabel('Email address').fill('stranger@example.com');
      await page.getByRole('button', { name: 'Email me a code' }).click();
      await page.getByLabel('Code').fill('1234 5678');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').waitFor();
    },
  },
];

/** An owner and operator with a month of history. */
export const OWNER: readonly Scene[] = [
  {
    name: 'overview',
    path: '/app',
    shown: (page) => page.getByRole('heading', { name: 'Recent sessions' }).waitFor(),
  },
  {
    name: 'overview-table',
    path: '/app',
    async shown(page) {
      await page.getByText('Show as a table').click();
      await page.getByRole('columnheader', { name: 'Day' }).waitFor();
    },
  },
  {
    name: 'sessions',
    path: '/app/sessions',
    shown: (page) => page.locator('tbody tr').first().waitFor(),
  },
  {
    name: 'session-ended-by-error',
    path: '/app/sessions?status=error',
    async shown(page) {
      await page.locator('tbody tr').getByRole('link').click();
      await page.getByRole('heading', { name: 'A message was too large' }).waitFor();
    },
  },
  {
    name: 'usage',
    path: '/app/usage',
    shown: (page) => page.getByRole('row', { name: 'Total' }).waitFor(),
  },
  {
    name: 'keys',
    path: '/app/keys',
    shown: (page) => page.getByRole('heading', { name: 'phone line' }).waitFor(),
  },
  {
    name: 'keys-revoke',
    path: '/app/keys',
    async shown(page) {
      await page.getByRole('button', { name: 'Revoke' }).first().click();
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'keys-past',
    path: '/app/keys',
    async shown(page) {
      await page.getByText('Past keys').click();
      await page.getByRole('heading', { name: 'old server' }).waitFor();
    },
  },
  {
    name: 'playground',
    path: '/app/playground',
    shown: (page) => page.getByRole('button', { name: 'Start speaking' }).waitFor(),
  },
  {
    name: 'playground-error',
    path: '/app/playground',
    async shown(page) {
      const file = { name: 'notes.txt', mimeType: 'audio/wav', buffer: Buffer.from('not audio') };
      await page.locator('input[type=file]').setInputFiles(file);
      await page.getByRole('alert').waitFor();
    },
  },
  {
    name: 'settings',
    path: '/app/settings',
    shown: (page) => page.getByRole('heading', { name: 'Your data' }).waitFor(),
  },
  {
    name: 'team',
    path: '/app/team',
    shown: (page) => page.getByRole('heading', { name: 'Members' }).waitFor(),
  },
  {
    name: 'settings-erase',
    path: '/app/settings',
    async shown(page) {
      await page.getByRole('button', { name: 'Erase this account' }).click();
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'activity',
    path: '/app/activity',
    shown: (page) => page.getByText('created the API key').first().waitFor(),
  },
  {
    name: 'menu',
    path: '/app',
    async shown(page) {
      await page.locator('summary').filter({ hasText: 'amina' }).click();
      await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor();
      await page.getByRole('link', { name: 'Docs' }).waitFor();
      await page.getByRole('link', { name: 'Service status' }).waitFor();
    },
  },
  {
    name: 'palette',
    path: '/app',
    async shown(page) {
      await page.getByRole('button', { name: 'Go to' }).click();
      await page.getByRole('combobox').fill('docs');
      await page.getByRole('option', { name: 'Docs: Errors' }).waitFor();
    },
  },
  {
    name: 'palette-nothing',
    path: '/app',
    async shown(page) {
      await page.getByRole('button', { name: 'Go to' }).click();
      await page.getByRole('combobox').fill('zebra');
      await page.getByText('Nothing matches').waitFor();
    },
  },
  {
    name: 'not-found',
    path: '/app/nowhere',
    shown: (page) => page.getByRole('heading', { name: 'Page not found' }).waitFor(),
  },
  ...['overview', 'sessions', 'usage', 'log', 'credit-requests', 'keys', 'settings'].flatMap(
    unreachable,
  ),
  ...unreachable('operator/start'),
];

/** The owner of a new account. Each scene has its own. */
export const NEWCOMER: readonly Scene[] = [
  {
    name: 'empty-overview',
    path: '/app',
    shown: (page) => page.getByRole('region', { name: 'Program: Node' }).waitFor(),
  },
  {
    name: 'empty-keys',
    path: '/app/keys',
    shown: (page) => page.getByText('No keys yet').waitFor(),
  },
  {
    name: 'first-run-key',
    path: '/app',
    async shown(page) {
      await page.getByRole('button', { name: 'Create a key' }).first().click();
      await page.getByLabel('Name').fill('first server');
      await page.getByRole('dialog').getByRole('button', { name: 'Create a key' }).click();
      await page.getByLabel('Your new API key').waitFor();
      await page.getByText('Waiting for the first call').waitFor();
    },
  },
  {
    name: 'first-run-telephone',
    path: '/app',
    async shown(page) {
      await page.getByText('Telephone', { exact: true }).click();
      await page.getByRole('region', { name: 'Program: Telephone' }).waitFor();
    },
  },
  {
    name: 'keys-create',
    path: '/app/keys',
    async shown(page) {
      await page.getByRole('button', { name: 'Create a key' }).click();
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'keys-shown-once',
    path: '/app/keys',
    async shown(page) {
      await page.getByRole('button', { name: 'Create a key' }).click();
      await page.getByLabel('Name').fill('production server');
      await page.getByRole('dialog').getByRole('button', { name: 'Create a key' }).click();
      await page.getByRole('button', { name: 'I have stored it' }).waitFor();
      await page.getByText('Try it from your server').click();
    },
  },
  {
    name: 'overview-waiting',
    path: '/app',
    before: reserveSession,
    shown: (page) => page.getByText('A session is waiting for its client').waitFor(),
  },
  {
    name: 'overview-live',
    path: '/app',
    async before(page, service) {
      const { id } = await reserveSession(page, service);
      const { rows } = await service.database.pool.query<{ account_id: string }>(
        'select account_id from sessions where id = $1',
        [id],
      );
      await activate(service, { sessionId: id, accountId: rows[0]?.account_id ?? '' });
    },
    shown: (page) => page.getByText('A session is active').waitFor(),
  },
  {
    name: 'overview-sw',
    path: '/app',
    before: chooseSwahili,
    shown: (page) => page.getByRole('heading', { name: 'Muhtasari' }).waitFor(),
  },
  {
    name: 'settings-sw',
    path: '/app/settings',
    before: chooseSwahili,
    shown: (page) => page.getByRole('heading', { name: 'Data yako' }).waitFor(),
  },
];

/** A person who is invited and belongs to no account. */
export const INVITED: readonly Scene[] = [
  {
    name: 'invitations-no-account',
    path: '/app',
    shown: (page) => page.getByRole('button', { name: 'Accept' }).waitFor(),
  },
];

/** A member who may read and stream. */
export const MEMBER: readonly Scene[] = [
  {
    name: 'member-keys',
    path: '/app/keys',
    shown: (page) => page.getByText('Only owners').waitFor(),
  },
  {
    name: 'member-team',
    path: '/app/team',
    shown: (page) => page.getByRole('heading', { name: 'Members' }).waitFor(),
  },
  {
    name: 'member-leave',
    path: '/app/team',
    async shown(page) {
      await page.getByRole('button', { name: 'Leave' }).click();
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'member-invited',
    path: '/app',
    shown: (page) => page.getByText('You are invited to another account').waitFor(),
  },
  {
    name: 'invitations',
    path: '/app/invitations',
    shown: (page) => page.getByRole('button', { name: 'Accept' }).waitFor(),
  },
];

/** An account without credit. */
export const BROKE: readonly Scene[] = [
  {
    name: 'broke-overview',
    path: '/app',
    shown: (page) => page.getByText('Your credit is used up').waitFor(),
  },
  {
    name: 'broke-playground',
    path: '/app/playground',
    shown: (page) => page.locator('button:disabled', { hasText: 'Start speaking' }).waitFor(),
  },
];

/** A suspended account with almost no credit. */
export const PAUSED: readonly Scene[] = [
  {
    name: 'paused-overview',
    path: '/app',
    shown: (page) => page.getByText('Less than one minute is left').waitFor(),
  },
];

/** Pages whose data failed to load or is still loading. */
function unreachable(address: string): Scene[] {
  const name = address.split('/')[0] ?? '';
  const path = PATHS[name] ?? `/app/${name}`;
  return [
    {
      name: `${name}-offline`,
      path,
      before: (page) => page.route(`**/console-api/${address}`, (route) => route.abort()),
      shown: (page) => page.getByRole('button', { name: 'Try again' }).waitFor(),
    },
    {
      name: `${name}-loading`,
      path,
      before: (page) => page.route(`**/console-api/${address}`, () => undefined),
      async shown(page) {
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.getByText('Loading').first().waitFor({ state: 'attached' });
      },
    },
  ];
}

/** Answers a request of the page in place of the server. */
async function fulfil(page: Page, address: string, json: unknown): Promise<void> {
  await page.route(`**/console-api/${address}`, (route) => route.fulfill({ json }));
}

async function reserveSession(page: Page, service: ConsoleService): Promise<{ id: string }> {
  const data = { model: 'svc-asr-kikuyu-v1' };
  return callApi<{ id: string }>(page, service, { path: '/playground/session', data });
}

function chooseSwahili(page: Page, service: ConsoleService): Promise<unknown> {
  return callApi(page, service, { path: '/settings/language', data: { language: 'sw' } });
}

async function callApi<T>(
  page: Page,
  service: ConsoleService,
  call: { path: string; data: unknown },
): Promise<T> {
  const answer = await page.request.post(`${service.url}/console-api${call.path}`, {
    data: call.data,
    headers: { origin: service.url },
  });
  if (!answer.ok()) throw new Error(`${call.path} was refused: ${answer.status()}`);
  return answer.json();
}
