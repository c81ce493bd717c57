import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inviteMember } from '../../../src/accounts/people/invitations.ts';
import { addMember, findPersonByEmail } from '../../../src/accounts/people/members.ts';
import { setOperator } from '../../../src/accounts/people/operators.ts';
import { joinWaitlist } from '../../../src/accounts/waitlist.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import type { Queryable } from '../../../src/platform/database/db.ts';
import { addSession, openContext, openTab, startConsoleInChromium } from './console-chromium.ts';
import { fillAccount } from './console-history.ts';
import {
  BROKE,
  INVITED,
  MEMBER,
  NEWCOMER,
  OWNER,
  PAUSED,
  PUBLIC,
  type Scene,
} from './console-scenes.ts';
import type { ConsoleService } from './console-service.ts';
import { askForCredit } from './operator-history.ts';
import { OPERATOR_PAGES } from './operator-scenes.ts';

interface Visitor {
  readonly who: string;
  /** Null: nobody signs in. Undefined: each scene has a new account. */
  readonly email?: string | null;
  readonly scenes: readonly Scene[];
}

export const OWNER_AND_OPERATOR: readonly Visitor[] = [
  { who: 'an owner', email: 'amina@example.com', scenes: OWNER },
  { who: 'an operator', email: 'amina@example.com', scenes: OPERATOR_PAGES },
];
export const EVERYBODY_ELSE: readonly Visitor[] = [
  { who: 'a visitor', email: null, scenes: PUBLIC },
  { who: 'a member', email: 'njoroge@example.com', scenes: MEMBER },
  { who: 'an invited person', email: 'invited@example.com', scenes: INVITED },
  { who: 'a suspended person', email: 'paused@example.com', scenes: PAUSED },
  { who: 'a person without credit', email: 'broke@example.com', scenes: BROKE },
  { who: 'a newcomer', scenes: NEWCOMER },
];

/** Defines a test for every screen of these people in every state, which fails if `check` finds a problem. */
export async function testScreens(
  people: readonly Visitor[],
  look: Parameters<typeof openContext>[1],
  check: (page: Page, scene: Scene) => Promise<string[]>,
): Promise<void> {
  const { service, browser, stop } = await startConsoleInChromium();
  afterAll(stop);
  beforeAll(() => fill(service));

  describe.each(people)('$who sees', ({ email, scenes }) => {
    let context: BrowserContext;
    beforeAll(async () => {
      context = await openContext(browser, { ...look, reducedMotion: 'reduce' });
    });
    afterAll(() => context.close());

    test.each(scenes)('$name', async (scene) => {
      const { page, complaints } = await openTab(context);
      if (email !== null) {
        const newcomer = `newcomer-${scene.name}@example.com`;
        if (email === undefined) await service.admit(newcomer);
        // Operators need a passkey.
        await addSession(page, { service, email: email ?? newcomer, verifiedBy: 'passkey' });
      }
      await scene.before?.(page, service);
      await page.goto(service.url + scene.path);
      await scene.shown(page);
      const problems = await check(page, scene);
      expect([...problems, ...complaints]).toEqual([]);
      await page.close();
    });
  });
}

/** Makes the newest stream one that ended by an error with a long name. */
async function addBrokenStream(db: Queryable, accountId: string): Promise<void> {
  await db.query(
    `insert into session_details (account_id, session_id, request_id, origin, client, ended_ms, finals, close_code,
        close_reason, gaps, longest_gap_ms, hints)
      select account_id, id, gen_random_uuid(), 'https://app.example.com', 'my-app 2.1', 300000, 3, 1009,
          'message_too_large', 0, 0, '{}'
        from sessions where account_id = $1 and status = 'completed' order by created_at desc limit 1`,
    [accountId],
  );
}

/** Accounts with history, an operator, a request for credit and invitations. */
async function fill(service: ConsoleService): Promise<void> {
  const db = service.database.pool;
  const amina = await service.admit('amina@example.com');
  await fillAccount(service, amina);
  await addBrokenStream(db, amina);
  await setOperator(db, { email: 'amina@example.com', isOperator: true });
  const purpose = 'Farmers call our line in Kikuyu; we want to answer them in writing.';
  await joinWaitlist(db, { email: 'otieno@example.com', name: '', purpose });
  await askForCredit(service);
  const paused = await service.admit('paused@example.com');
  await addMember(db, {
    accountId: paused,
    email: 'paused-partner@example.com',
    role: 'owner',
    language: 'en',
  });
  const partner = await findPersonByEmail(db, 'paused-partner@example.com');
  for (const email of ['njoroge@example.com', 'invited@example.com']) {
    const invitation = { accountId: paused, invitedBy: partner?.id ?? '', email };
    await inviteMember(db, { ...invitation, role: 'member', language: 'en' });
  }
  const broke = await service.admit('broke@example.com');
  const all = { ms: -3_600_000, reason: 'test', actor: 'test', id: crypto.randomUUID() };
  await createLedger(db).adjust({ accountId: broke, ...all });
  const spent = { ms: -3_580_000, reason: 'test', actor: 'test', id: crypto.randomUUID() };
  await createLedger(db).adjust({ accountId: paused, ...spent });
  await db.query(`update accounts set status = 'suspended' where id = $1`, [paused]);
}
