import type { CodeRequested } from '@svc-asr/protocol/console/console.ts';
import * as fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { queryRows, statement, t } from '../../src/platform/database/statement.ts';
import { startConsoleService, TestBrowser } from '../support/console/console-service.ts';

/** Strangers who request codes for someone else's address. Networks are told apart by a trusted proxy's header. */

const service = await startConsoleService({
  env: { TRUSTED_PROXIES: '127.0.0.1', RATE_CONSOLE_FORMS: '10/20' },
});
afterAll(() => service.stop());
const db = service.database.pool;

function ask(email: string, network: string, browser = new TestBrowser(service.url)) {
  const headers = { 'x-forwarded-for': network };
  return browser.post<CodeRequested>('/sign-in/code', { email, language: 'en' }, headers);
}

async function signIn(email: string, network: string): Promise<TestBrowser> {
  const browser = new TestBrowser(service.url);
  const headers = { 'x-forwarded-for': network };
  const { body } = await ask(email, network, browser);
  const code = await service.mail.takeCode(email);
  const answer = await browser.post(
    '/sign-in/verify',
    { challenge: body.challenge, code },
    headers,
  );
  expect(answer.status).toBe(200);
  return browser;
}

/** Requests codes from many networks, six from each. Returns how many were sent. */
async function flood(email: string, networks: number, prefix: string): Promise<number> {
  let sent = 0;
  for (let network = 0; network < networks; network += 1) {
    for (let at = 0; at < 6; at += 1) {
      if ((await ask(email, `${prefix}.${network}`)).status === 202) sent += 1;
    }
  }
  return sent;
}

async function age(interval: string): Promise<void> {
  await db.query('update sign_in_codes set created_at = created_at - $1::interval', [interval]);
}

test('a stranger on six networks cannot keep a person on another network from signing in', async () => {
  await service.admit('fresh@example.com');
  expect(await flood('fresh@example.com', 6, '203.0.113')).toBeLessThanOrEqual(16);
  expect((await ask('fresh@example.com', '198.51.100.99')).status).toBe(202);
});

test('the device and the network of an earlier sign-in work through any flood, which sends at most 30 emails an hour', async () => {
  await service.admit('regular@example.com');
  const browser = await signIn('regular@example.com', '198.51.100.1');
  const before = service.mail.emails.length;
  expect(await flood('regular@example.com', 40, '192.0.2')).toBeLessThanOrEqual(30);
  const stranger = await ask('regular@example.com', '198.51.100.200');
  expect(stranger.status).toBe(429);
  expect((await ask('regular@example.com', '198.51.100.201', browser)).status).toBe(202);
  expect((await ask('regular@example.com', '198.51.100.1')).status).toBe(202);
  await expect.poll(() => service.mail.emails.length).toBeGreaterThan(before + 2);
  const emails = service.mail.emails.filter(({ to }) => to === 'regular@example.com');
  expect(emails.length).toBeLessThanOrEqual(34);
});

test("another person's device is a stranger's, and so is a forged one", async () => {
  await service.admit('target@example.com');
  await service.admit('insider@example.com');
  const insider = await signIn('insider@example.com', '198.51.100.2');
  await signIn('target@example.com', '198.51.100.3');
  await flood('target@example.com', 40, '192.0.2');
  expect((await ask('target@example.com', '198.51.100.4', insider)).status).toBe(429);
  const forger = new TestBrowser(service.url);
  forger.cookie = `__Host-svc_device=${'A'.repeat(43)}`;
  expect((await ask('target@example.com', '198.51.100.5', forger)).status).toBe(429);
});

test('a known device signs in although its neighbours used up the limit of the network', async () => {
  await service.admit('neighbour@example.com');
  const network = '198.51.100.6';
  const browser = await signIn('neighbour@example.com', network);
  const statuses: number[] = [];
  for (let at = 0; at < 25; at += 1) {
    statuses.push((await ask(`nobody-${at}@example.com`, network)).status);
  }
  expect(statuses.at(-1)).toBe(429);
  expect((await ask('neighbour@example.com', network, browser)).status).toBe(202);
});

test('Retry-After is the time after which the next request is accepted', async () => {
  await service.admit('patient@example.com');
  const network = '198.51.100.7';
  for (let at = 0; at < 6; at += 1) await ask('patient@example.com', network);
  await age('30 minutes');
  const refused = await ask('patient@example.com', network);
  const seconds = Number(refused.headers.get('retry-after'));
  expect(refused.status).toBe(429);
  expect(seconds).toBeGreaterThan(1_700);
  expect(seconds).toBeLessThanOrEqual(1_800);
  await age(`${seconds} seconds`);
  expect((await ask('patient@example.com', network)).status).toBe(202);
});

const REQUEST = statement(
  `select request_sign_in_code(gen_random_uuid(), $1, $2, array[$3::bytea], $4, $2, interval '10 minutes')
    as wait_seconds`,
  { wait_seconds: t.number() },
);

interface Step {
  readonly network: number;
  readonly device: boolean;
  readonly passes: number;
}

/** How long until fewer than `limit` requests are younger than an hour. */
function wait(ages: readonly number[], limit: number): number {
  return 3_600 - (ages.toSorted((a, b) => a - b)[limit - 1] ?? 3_600);
}

function hash(byte: number): Buffer {
  return Buffer.alloc(32, byte);
}

/** The rules as a plain list of times in seconds. */
function modelWait(codes: readonly Step[], step: Step, known: number): number {
  const ages = (filter: (code: Step) => boolean) =>
    codes.filter((code) => filter(code) && code.passes < 3_600).map(({ passes }) => passes);
  if (step.device)
    return wait(
      ages(({ device }) => device),
      10,
    );
  const all = ages(({ device }) => !device);
  const here = ages(({ device, network }) => !device && network === step.network);
  const own = wait(here, 6);
  if (step.network === known) return own;
  return Math.max(own, Math.min(wait(all, 10), Math.max(wait(here, 1), wait(all, 30))));
}

test('in any sequence of requests the limits hold, and waiting as long as told is enough and necessary', async () => {
  await service.admit('model@example.com');
  const { rows } = await db.query<{ id: string }>(
    `select id from console_users where email = 'model@example.com'`,
  );
  const userId = rows[0]?.id;
  const device = hash(200);
  const known = 0;
  await db.query('select remember_places($1, $2)', [userId, [hash(known), device]]);
  const request = async (step: Step): Promise<number> => {
    const values = [userId, hash(250), hash(step.network), step.device ? [device] : []];
    const [row] = await queryRows(db, REQUEST, values);
    return row?.wait_seconds ?? -1;
  };
  const steps = fc.array(
    fc.record({
      network: fc.integer({ min: 0, max: 8 }),
      device: fc.integer({ max: 5, min: 0 }).map((n) => n === 0),
      passes: fc.constantFrom(0, 0, 0, 30, 600, 2_000),
    }),
    { minLength: 20, maxLength: 60 },
  );
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      await db.query('delete from sign_in_codes');
      let codes: Step[] = [];
      for (const step of sequence) {
        await age(`${step.passes} seconds`);
        codes = codes.map((code) => ({ ...code, passes: code.passes + step.passes }));
        const expected = modelWait(codes, step, known);
        const told = await request(step);
        // The real clock runs on during the test.
        expect(Math.abs(told - Math.max(0, expected))).toBeLessThanOrEqual(30);
        if (told === 0) codes.push({ ...step, passes: 0 });
      }
    }),
    { numRuns: 15, endOnFailure: true },
  );
});
