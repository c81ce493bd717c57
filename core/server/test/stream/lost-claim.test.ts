import type { AsrSession } from '@svc-asr/protocol';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { KIKUYU, type Tenant } from '@svc-asr/testing/service/service.ts';
import {
  refused,
  speech,
  StreamClient,
  type Refusal,
} from '@svc-asr/testing/service/stream-client.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findViolations } from '../../src/ledger/reports/audit.ts';
import { createLedger } from '../../src/ledger/ledger.ts';
import {
  startServiceBehindProxy,
  type ServiceBehindProxy,
} from '../support/service-behind-proxy.ts';

/** The database goes away during an upgrade, so the node never learns whether its claim went through. */

let behind: ServiceBehindProxy;
beforeAll(async () => {
  behind = await startServiceBehindProxy();
});
afterAll(() => behind.stop());

async function newSession(): Promise<{ session: AsrSession; tenant: Tenant }> {
  const tenant = await behind.svc.addTenant({ creditMs: 60_000 });
  const { body } = await behind.svc.createSession({ model: KIKUYU }, tenant);
  return { session: body, tenant };
}

async function unsettled(): Promise<number> {
  const text = await behind.svc.deps.metrics.registry.metrics();
  return Number(/^svc_closes_unsettled (\d+)/m.exec(text)?.[1]);
}

interface LostClaim {
  readonly refusal: Refusal;
  /** Lets the node give the session up. */
  readonly giveUp: () => Promise<void>;
}

/** Loses the answer to a claim, and holds back the node's attempt to give the session up. */
async function loseClaim(session: AsrSession, tenant: Tenant): Promise<LostClaim> {
  const { svc, proxy, database } = behind;
  const holder = await database.pool.connect();
  await holder.query('begin');
  // A close locks the account first; a claim does not.
  await holder.query('select from accounts where id = $1 for update', [tenant.accountId]);
  proxy.set('cut');
  const refusal = await refused(svc.streamUrl, session.websocket_protocols);
  proxy.set('open');
  return {
    refusal,
    giveUp: async () => {
      await holder.query('rollback');
      holder.release();
      await eventually(async () => (await unsettled()) === 0);
    },
  };
}

/** Asks the database itself: a request may still meet a connection that the outage broke. */
async function sessionOf(tenant: Tenant) {
  const balance = await createLedger(behind.database.pool).balance(tenant.accountId);
  return balance?.recentSessions[0];
}

test('a client that opens its session again after a lost claim keeps its stream and pays for it', async () => {
  const { session, tenant } = await newSession();
  const { refusal, giveUp } = await loseClaim(session, tenant);
  expect(refusal).toMatchObject({ status: 503, body: { error: { code: 'service_unavailable' } } });
  expect(await unsettled()).toBe(1);
  const client = await StreamClient.ready(session, { url: behind.svc.streamUrl });
  await giveUp();
  expect(await sessionOf(tenant)).toMatchObject({ status: 'active' });
  const final = await client.send(speech({ ms: 1_500 })).flush();
  expect(final).toMatchObject({ billable_ms: 2_000 });
  expect(await client.close()).toEqual({ code: 1000, reason: 'completed' });
  expect(await sessionOf(tenant)).toMatchObject({ status: 'completed', billableMs: 2_000 });
  expect(await findViolations(behind.database.pool)).toEqual([]);
});

test('a claim without an answer keeps its slot until the session is given up', async () => {
  const small = await startServiceBehindProxy({ capacity: 1 });
  const tenant = await small.svc.addTenant({ creditMs: 60_000 });
  const { body: session } = await small.svc.createSession({ model: KIKUYU }, tenant);
  small.proxy.set('cut');
  const codes: string[] = [];
  for (let at = 0; at < 3; at += 1) {
    const { body } = await refused(small.svc.streamUrl, session.websocket_protocols);
    codes.push(body.error.code);
  }
  expect(codes).toEqual(['service_unavailable', 'capacity_exceeded', 'capacity_exceeded']);
  small.proxy.set('open');
  await eventually(async () => (await small.svc.usage(tenant)).body.reserved_ms === 0);
  const { body: next } = await small.svc.createSession({ model: KIKUYU }, tenant);
  await (await StreamClient.ready(next, { url: small.svc.streamUrl })).close();
  await small.stop();
});
