import type { Scene } from './console-scenes.ts';
import { startStream } from './operator-history.ts';

/** Every page of the operators, for an operator of a service with some history. */
export const OPERATOR_PAGES: readonly Scene[] = [
  {
    name: 'operator-start',
    path: '/app/operator',
    shown: (page) => page.getByRole('heading', { name: 'To do' }).waitFor(),
  },
  {
    name: 'operator',
    path: '/app/operator/waitlist',
    shown: (page) => page.getByRole('checkbox', { name: 'Select otieno@example.com' }).waitFor(),
  },
  {
    name: 'operator-accounts-all',
    path: '/app/operator/accounts',
    shown: (page) => page.getByRole('link', { name: 'amina@example.com' }).waitFor(),
  },
  {
    name: 'operator-accounts-none',
    path: '/app/operator/accounts?search=nobody',
    shown: (page) => page.getByText('No account matches').waitFor(),
  },
  {
    name: 'operator-account',
    path: '/app/operator/accounts',
    async shown(page) {
      await page.getByRole('link', { name: 'amina@example.com' }).click();
      await page.getByRole('heading', { name: 'Newest sessions' }).waitFor();
    },
  },
  ...[
    ['grant', 'Grant credit'],
    ['limit', 'Change the limit'],
    ['suspend', 'Suspend'],
  ].map(([name = '', button = '']): Scene => ({
    name: `operator-account-${name}`,
    path: '/app/operator/accounts',
    async shown(page) {
      await page.getByRole('link', { name: 'amina@example.com' }).click();
      await page.getByRole('button', { name: button }).click();
      await page.getByRole('dialog').waitFor();
    },
  })),
  {
    name: 'operator-requests',
    path: '/app/operator/requests',
    shown: (page) => page.getByText('Asks for 2 h').waitFor(),
  },
  {
    name: 'operator-requests-grant',
    path: '/app/operator/requests',
    async shown(page) {
      await page.getByRole('button', { name: 'Grant' }).click();
      await page.getByRole('dialog').waitFor();
    },
  },
  {
    name: 'operator-requests-declined',
    path: '/app/operator/requests?status=declined',
    shown: (page) => page.getByText('No requests here').waitFor(),
  },
  {
    name: 'operator-live',
    path: '/app/operator/live',
    before: (_, service) => startStream(service),
    shown: (page) => page.getByText('Streaming', { exact: true }).first().waitFor(),
  },
  {
    name: 'operator-live-none',
    path: '/app/operator/live?node=elsewhere',
    shown: (page) => page.getByText('Only node elsewhere').waitFor(),
  },
  {
    name: 'operator-nodes',
    path: '/app/operator/nodes',
    shown: (page) => page.getByText('Live', { exact: true }).first().waitFor(),
  },
  {
    name: 'operator-failures',
    path: '/app/operator/failures',
    shown: (page) => page.getByRole('heading', { name: 'Newest failed sessions' }).waitFor(),
  },
  {
    name: 'operator-session',
    path: '/app/operator/failures',
    async shown(page) {
      await page.locator('a[href*="/operator/sessions/"]').first().click();
      await page.getByText('Timeline').waitFor();
      await page.locator('a[href*="/operator/accounts/"]').waitFor();
    },
  },
  {
    name: 'operator-ledger',
    path: '/app/operator/ledger',
    shown: (page) => page.getByText('Never run').first().waitFor(),
  },
  {
    name: 'operator-audit',
    path: '/app/operator/audit-log',
    shown: (page) => page.getByText('of audio credit.').first().waitFor(),
  },
  {
    name: 'operator-page-not-found',
    path: '/app/operator/nothing',
    shown: (page) => page.getByRole('heading', { name: 'Page not found' }).waitFor(),
  },
  {
    name: 'credit-open',
    path: '/app/credit',
    shown: (page) => page.getByText('has not decided yet').waitFor(),
  },
];
