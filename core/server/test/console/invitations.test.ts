import type { ErrorBody } from '@svc-asr/protocol';
import {
  CONSOLE_LIMITS,
  type InvitationList,
  type Me,
  type Overview,
  type Settings,
} from '@svc-asr/protocol/console/console.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { afterAll, expect, test } from 'vitest';
import { startConsoleService, TestBrowser } from '../support/console/console-service.ts';

const service = await startConsoleService();
afterAll(() => service.stop());

function invite(owner: TestBrowser, email: string, role = 'member') {
  return owner.post<Settings & ErrorBody>('/settings/members', { email, role });
}

async function firstInvitation(browser: TestBrowser): Promise<string> {
  const { body } = await browser.get<InvitationList>('/invitations');
  const id = body.data[0]?.id;
  if (id === undefined) throw new Error('There is no invitation.');
  return id;
}

function emailsTo(address: string): number {
  return service.mail.emails.filter(({ to }) => to === address).length;
}

test('approving an invited address credits an account of its own, not the inviter', async () => {
  const inviter = await service.signedIn('hijacker@example.com');
  await inviter.post('/waitlist', { email: 'target@example.com', use_case: '', language: 'en' });
  expect((await invite(inviter, 'target@example.com')).status).toBe(200);
  await service.admit('target@example.com');
  const overview = await inviter.get<Overview>('/overview');
  expect(overview.body.available_ms).toBe(3_600_000);
  const target = new TestBrowser(service.url);
  await target.signIn('target@example.com', service.mail);
  const me = await target.get<Me>('/me');
  expect(me.body).toMatchObject({ account: { name: 'target@example.com', role: 'owner' } });
  expect((await target.get<Overview>('/overview')).body.available_ms).toBe(3_600_000);
});

test('an invited person belongs to no account until they accept', async () => {
  const owner = await service.signedIn('patient-owner@example.com');
  await invite(owner, 'undecided@example.com');
  const { body } = await owner.get<Settings>('/settings');
  expect(body.members.map(({ email }) => email)).toEqual(['patient-owner@example.com']);
  expect(body.invitations).toMatchObject([{ email: 'undecided@example.com', status: 'pending' }]);
  const person = new TestBrowser(service.url);
  await person.signIn('undecided@example.com', service.mail);
  expect((await person.get<Me>('/me')).body.account).toBeNull();
  const refused = await person.get<ErrorBody>('/overview');
  expect([refused.status, refused.body.error.code]).toEqual([403, 'no_account']);
  const { body: mine } = await person.get<InvitationList>('/invitations');
  expect(mine.data).toMatchObject([{ invited_by: 'patient-owner@example.com', role: 'member' }]);
  await person.post(`/invitations/${mine.data[0]?.id}/accept`);
  expect((await person.get<Me>('/me')).body.account).toMatchObject({ role: 'member' });
});

test('a member can leave, and the last owner cannot', async () => {
  const owner = await service.signedIn('captain@example.com');
  const sailor = await service.joined(owner, { email: 'sailor@example.com', role: 'member' });
  expect((await sailor.post('/settings/leave')).status).toBe(200);
  const { body } = await owner.get<Settings>('/settings');
  expect(body.members.map(({ email }) => email)).toEqual(['captain@example.com']);
  const refused = await owner.post<ErrorBody>('/settings/leave');
  expect([refused.status, refused.body.error.code]).toEqual([409, 'last_owner']);
});

test('a person in two accounts switches between them and keeps the other after leaving one', async () => {
  const owner = await service.signedIn('second-team@example.com');
  const person = await service.signedIn('both@example.com');
  await invite(owner, 'both@example.com');
  await person.post(`/invitations/${await firstInvitation(person)}/accept`);
  const { body: me } = await person.get<Me>('/me');
  expect(me.accounts.map(({ name }) => name).toSorted()).toEqual([
    'both@example.com',
    'second-team@example.com',
  ]);
  const other = me.accounts.find(({ name }) => name === 'second-team@example.com')?.id;
  expect((await person.post('/accounts/switch', { account_id: other })).status).toBe(200);
  expect((await person.get<Me>('/me')).body.account?.name).toBe('second-team@example.com');
  expect((await person.post('/settings/leave')).status).toBe(200);
  expect((await person.get<Me>('/me')).body.account?.name).toBe('both@example.com');
  const back = await person.post<ErrorBody>('/accounts/switch', { account_id: other });
  expect([back.status, back.body.error.code]).toEqual([404, 'not_found']);
});

test('an invitation is answered alike for unknown people and members of other accounts', async () => {
  const owner = await service.signedIn('curious@example.com');
  await service.admit('elsewhere@example.com');
  const answers = [];
  for (const email of ['elsewhere@example.com', 'unheard-of@example.com']) {
    const { status, body } = await invite(owner, email);
    answers.push({ status, last: { ...body.invitations.at(-1), id: '', email: '', sent_at: '' } });
  }
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[0]?.status).toBe(200);
});

test('only the invited person can accept an invitation, and only once', async () => {
  const owner = await service.signedIn('host@example.com');
  const stranger = await service.signedIn('gatecrasher@example.com');
  const { body } = await invite(owner, 'guest@example.com');
  const id = body.invitations[0]?.id;
  expect((await stranger.post(`/invitations/${id}/accept`)).status).toBe(404);
  const guest = new TestBrowser(service.url);
  await guest.signIn('guest@example.com', service.mail);
  expect((await guest.post(`/invitations/${id}/accept`)).status).toBe(200);
  expect((await guest.post(`/invitations/${id}/accept`)).status).toBe(404);
});

test('a withdrawn, declined or expired invitation cannot be accepted', async () => {
  const owner = await service.signedIn('fickle@example.com');
  const person = await service.signedIn('hesitant@example.com');
  await invite(owner, 'hesitant@example.com');
  const withdrawn = await firstInvitation(person);
  expect((await owner.post(`/settings/invitations/${withdrawn}/withdraw`)).status).toBe(200);
  expect((await person.post(`/invitations/${withdrawn}/accept`)).status).toBe(404);
  await invite(owner, 'hesitant@example.com', 'owner');
  const declined = await firstInvitation(person);
  expect((await person.post(`/invitations/${declined}/decline`)).status).toBe(200);
  expect((await person.post(`/invitations/${declined}/accept`)).status).toBe(404);
  const other = await service.signedIn('slow@example.com');
  await invite(owner, 'slow@example.com');
  const expired = await firstInvitation(other);
  await service.database.pool.query(
    `update invitations set expires_at = clock_timestamp() where id = $1`,
    [expired],
  );
  expect((await other.post(`/invitations/${expired}/accept`)).status).toBe(404);
});

test('forty invitations in a row send no more emails than the limit of an account', async () => {
  const owner = await service.signedIn('spammer@example.com');
  const answers = [];
  for (let at = 0; at < 40; at += 1) {
    const sent = await invite(owner, `stranger-${at}@example.com`);
    answers.push(sent);
    const id = sent.body.invitations?.at(-1)?.id;
    if (id !== undefined) await owner.post(`/settings/invitations/${id}/withdraw`);
  }
  const allowed = answers.filter(({ status }) => status === 200);
  expect(allowed).toHaveLength(CONSOLE_LIMITS.invitationsPerDay);
  const last = answers.at(-1);
  expect([last?.status, last?.body.error.code]).toEqual([429, 'invitation_limit_reached']);
});

test('one address gets at most three invitation emails a day, however many accounts invite it', async () => {
  const victim = 'flooded@example.com';
  for (let at = 0; at < 5; at += 1) {
    const owner = await service.signedIn(`sender-${at}@example.com`);
    expect((await invite(owner, victim)).status).toBe(200);
  }
  await eventually(() => emailsTo(victim) === CONSOLE_LIMITS.invitationEmailsPerDay);
  const witness = await service.signedIn('witness@example.com');
  await invite(witness, 'unflooded@example.com');
  // Emails go out in the order they became due: once this one arrived, none to the victim is left.
  await eventually(() => emailsTo('unflooded@example.com') === 1);
  expect(emailsTo(victim)).toBe(CONSOLE_LIMITS.invitationEmailsPerDay);
});

test('an invitation email contains nothing that the inviter wrote', async () => {
  const owner = await service.signedIn('buy-pills-now@example.com');
  await invite(owner, 'reader@example.com');
  const { subject, text } = await service.mail.take('reader@example.com');
  expect(`${subject} ${text}`).not.toContain('buy-pills-now');
  expect(text).toContain('https://console.example.org/app');
});
