import type { AsrSession } from '@svc-asr/protocol';
import { KIKUYU } from '@svc-asr/testing/service/service.ts';
import { afterAll, expect, test } from 'vitest';
import { inviteMember } from '../../src/accounts/people/invitations.ts';
import { findPersonByEmail } from '../../src/accounts/people/members.ts';
import { startConsoleService, TestBrowser } from '../support/console/console-service.ts';

/** Who may read each page and each download of an account. Operators' pages are in operator-area.test.ts. */

const service = await startConsoleService();
afterAll(() => service.stop());

const READS = [
  '/overview',
  '/overview/live',
  '/first-run',
  '/sessions',
  '/sessions.csv',
  '/usage',
  '/usage.csv',
  '/log',
  '/log.csv',
  '/credit-requests',
  '/keys',
  '/settings',
  '/playground/credit',
  '/data',
];

test('members read every page and download, people without an account and strangers none', async () => {
  const owner = await service.signedIn('owner@example.com');
  const member = await service.joined(owner, { email: 'member@example.com', role: 'member' });
  const stranger = new TestBrowser(service.url);
  for (const path of READS) {
    const browsers = [owner, member, await guest(), stranger];
    const answers = await statusesOf(browsers, path);
    expect([path, answers]).toEqual([path, [200, 200, 403, 401]]);
  }
  const browsers = [owner, member, await guest(), stranger];
  const answers = await statusesOf(browsers, '/activity');
  expect(answers).toEqual([200, 403, 403, 401]);
});

test('a session is shown to its account only', async () => {
  const owner = await service.signedIn('speaker@example.com');
  const other = await service.signedIn('other@example.com');
  const { body } = await owner.post<AsrSession>('/playground/session', { model: KIKUYU });
  for (const path of [`/sessions/${body.id}`, `/playground/session/${body.id}`]) {
    const browsers = [owner, other, await guest(), new TestBrowser(service.url)];
    const answers = await statusesOf(browsers, path);
    expect([path, answers]).toEqual([path, [200, 404, 403, 401]]);
  }
});

let invited: TestBrowser | null = null;

/** A person who is invited to an account and has not answered. */
async function guest(): Promise<TestBrowser> {
  if (invited !== null) return invited;
  const host = await service.admit('host@example.com');
  const person = await findPersonByEmail(service.database.pool, 'host@example.com');
  await inviteMember(service.database.pool, {
    accountId: host,
    invitedBy: person?.id ?? '',
    email: 'guest@example.com',
    role: 'owner',
    language: 'en',
  });
  invited = new TestBrowser(service.url);
  await invited.signIn('guest@example.com', service.mail);
  return invited;
}

/** Downloads are no JSON, which the test browser expects. */
async function statusesOf(browsers: readonly TestBrowser[], path: string): Promise<number[]> {
  const statuses: number[] = [];
  for (const browser of browsers) {
    const headers = { cookie: browser.cookie };
    const answer = await fetch(`${service.url}/console-api${path}`, { headers });
    statuses.push(answer.status);
  }
  return statuses;
}
