import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inviteMember } from '../../src/accounts/invitations.ts';
import { addMember, findPersonByEmail } from '../../src/accounts/members.ts';
import { setOperator } from '../../src/accounts/operators.ts';
import { joinWaitlist } from '../../src/accounts/waitlist.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import { violations } from '../support/console-axe.ts';
import { openPage, signInAs, startConsoleInChromium } from '../support/console-chromium.ts';
import { fillAccount } from '../support/console-history.ts';
import { DEVICES, PICTURES, takePicture } from '../support/console-pictures.ts';
import {
  INVITED,
  MEMBER,
  NEWCOMER,
  OWNER,
  PAUSED,
  PUBLIC,
  type Scene,
} from '../support/console-scenes.ts';

/** Checks every screen and state, on desktop and phone, light and dark, for axe violations and overflow. */

const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

const { service, browser, stop } = await startConsoleInChromium();
afterAll(stop);
beforeAll(async () => {
  const db = service.database.pool;
  await fillAccount(service, await service.admit('amina@example.com'));
  await setOperator(db, { email: 'amina@example.com', isOperator: true });
  const purpose = 'Farmers call our line in Kikuyu; we want to answer them in writing.';
  await joinWaitlist(db, { email: 'otieno@example.com', name: '', purpose });
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
  const spent = { ms: -3_580_000, reason: 'test', actor: 'test', id: crypto.randomUUID() };
  await createLedger(db).adjust({ accountId: paused, ...spent });
  await db.query(`update accounts set status = 'suspended' where id = $1`, [paused]);
});

type Look = readonly [device: keyof typeof DEVICES, colorScheme: 'light' | 'dark'];
/** Both layouts and both palettes; every combination when taking screenshots. */
const LOOKS: Look[] = [
  ['desktop', 'light'],
  ['phone', 'dark'],
  ...(PICTURES === undefined
    ? []
    : ([
        ['desktop', 'dark'],
        ['phone', 'light'],
      ] as Look[])),
];

const PEOPLE = [
  { who: 'a visitor', email: null, scenes: PUBLIC },
  { who: 'an owner', email: 'amina@example.com', scenes: OWNER },
  { who: 'a member', email: 'njoroge@example.com', scenes: MEMBER },
  { who: 'an invited person', email: 'invited@example.com', scenes: INVITED },
  { who: 'a suspended person', email: 'paused@example.com', scenes: PAUSED },
  { who: 'a newcomer', email: 'newcomer', scenes: NEWCOMER },
] as const;

describe.each(LOOKS)('on a %s in %s', (device, colorScheme) => {
  test.each(PEOPLE)(
    'no screen of $who has an axe violation or overflows',
    async ({ email, scenes }) => {
      const options = { ...DEVICES[device], colorScheme, reducedMotion: 'reduce' as const };
      const { context, page, complaints } = await openPage(browser, options);
      if (email === 'newcomer') {
        // A newcomer's actions work once, so each device and palette has its own newcomer.
        const newcomer = `newcomer-${device}-${colorScheme}@example.com`;
        await service.admit(newcomer);
        await signInAs(page, { service, email: newcomer });
      } else if (email !== null) {
        await signInAs(page, { service, email });
        // As if with a passkey, which operators need.
        await service.database.pool.query(`update console_sessions set verified_by = 'passkey'`);
      }
      const problems = await visit(page, { scenes, device, colorScheme });
      expect([...problems, ...complaints]).toEqual([]);
      await context.close();
    },
  );
});

/** Describes each problem of these screens. */
async function visit(
  page: Page,
  input: { scenes: readonly Scene[]; device: string; colorScheme: string },
): Promise<string[]> {
  const problems: string[] = [];
  for (const scene of input.scenes) {
    await page.goto(service.url + scene.path);
    await scene.shown(page, service);
    const overPixels = await page.evaluate<number>(OVERFLOW);
    if (overPixels > 0) problems.push(`${scene.name} is ${overPixels} pixels too wide`);
    problems.push(...(await violations(page)).map((violation) => `${scene.name}: ${violation}`));
    await takePicture(page, `${scene.name}-${input.device}-${input.colorScheme}`);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  }
  return problems;
}
