import type { BrowserContext, Page } from 'playwright-core';
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
import { askForCredit } from '../support/operator-history.ts';
import { OPERATOR_PAGES } from '../support/operator-scenes.ts';

/** Checks every screen and state, on desktop and phone, light and dark, for axe violations and overflow. */

const OVERFLOW = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';

/** Short email addresses that are broken over two lines, though a wide screen has room for them. */
const BROKEN_ADDRESSES = `[...document.querySelectorAll('main td *')]
  .flatMap((element) => [...element.childNodes])
  .filter((node) => node.nodeType === Node.TEXT_NODE && /^[a-z]{1,10}@example.com$/.test(node.data))
  .filter((node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return range.getClientRects().length > 1;
  })
  .map((node) => node.data)`;

/** Buttons of a row that the others don't share: one has wrapped into a line of its own. */
const LONELY_BUTTONS = `[...document.querySelectorAll('main li, main header, dialog')]
  .flatMap((group) => [...group.querySelectorAll('button')].map((button) => button.parentElement))
  .filter((row, at, rows) => rows.indexOf(row) === at && getComputedStyle(row).display === 'flex')
  .flatMap((row) => {
    const tops = [...row.children].filter((child) => child.matches('button')).map((child) => child.offsetTop);
    const isAlone = tops.length > 1 && tops.some((top) => tops.filter((other) => other === top).length === 1);
    return isAlone ? [row.textContent] : [];
  })`;

/** Dialogs whose text touches their edge. */
const TIGHT_DIALOGS = `[...document.querySelectorAll('dialog')]
  .filter((dialog) => parseFloat(getComputedStyle(dialog).paddingLeft) < 16)
  .map((dialog) => dialog.textContent)`;

const { service, browser, stop } = await startConsoleInChromium();
afterAll(stop);
beforeAll(async () => {
  const db = service.database.pool;
  await fillAccount(service, await service.admit('amina@example.com'));
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
  { who: 'an operator', email: 'amina@example.com', scenes: OPERATOR_PAGES },
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
      // A newcomer's actions work once, so each device and palette has its own newcomer.
      const person = email === 'newcomer' ? `${email}-${device}-${colorScheme}@example.com` : email;
      if (email === 'newcomer') await service.admit(person ?? '');
      const cookies = person === null ? {} : { storageState: await signedIn(person) };
      const { context, page, complaints } = await openPage(browser, { ...options, ...cookies });
      const problems = await visit(page, { scenes, device, colorScheme });
      expect([...problems, ...complaints]).toEqual([]);
      await context.close();
    },
  );
});

type Signed = Awaited<ReturnType<BrowserContext['storageState']>>;
const signedInAs = new Map<string, Signed>();

/** The cookies of a person. Everybody signs in once, because codes are limited to a few an hour. */
async function signedIn(email: string): Promise<Signed> {
  const earlier = signedInAs.get(email);
  if (earlier !== undefined) return earlier;
  const { context, page } = await openPage(browser);
  await signInAs(page, { service, email });
  // As if with a passkey, which operators need.
  await service.database.pool.query(`update console_sessions set verified_by = 'passkey'`);
  const state = await context.storageState();
  await context.close();
  signedInAs.set(email, state);
  return state;
}

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
    const broken = input.device === 'desktop' ? BROKEN_ADDRESSES : LONELY_BUTTONS;
    for (const text of await page.evaluate<string[]>(broken)) {
      problems.push(`${scene.name} breaks "${text}"`);
    }
    for (const text of await page.evaluate<string[]>(TIGHT_DIALOGS)) {
      problems.push(`${scene.name} has no room around "${text}"`);
    }
    problems.push(...(await violations(page)).map((violation) => `${scene.name}: ${violation}`));
    await takePicture(page, `${scene.name}-${input.device}-${input.colorScheme}`);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  }
  return problems;
}
