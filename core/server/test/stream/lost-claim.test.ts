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

/** The claim is committed, and its answer is lost with the connection. The database is still away. */
async function loseCommittedClaim(headers: Record<string, string> = {}) {
  const { svc, proxy, database } = behind;
  const tenant = await svc.addTenant({ creditMs: 60_000 });
  const create = () => svc.createSession({ model: KIKUYU }, { ...tenant, headers });
  const { body: session } = await create();
  const holder = await database.pool.connect();
  await holder.query('begin');
  await holder.query('select from sessions where id = $1 for update', [session.id]);
  const refusing = refused(svc.streamUrl, session.websocket_protocols);
  await eventually(async () => (await waitingClaims()) > 0);
  proxy.set('cut');
  await holder.query('commit');
  holder.release();
  const refusal = await refusing;
  await eventually(async () => (await waitingClaims()) === 0);
  return { session, tenant, refusal, create };
}

test('a refused upgrade keeps the credential good, and a repeated POST returns the reservation', async () => {
  const lost = await loseCommittedClaim({ 'idempotency-key': 'lost' });
  expect(lost.refusal).toMatchObject({ status: 503 });
  expect(await sessionOf(lost.tenant)).toMatchObject({ status: 'active' });
  behind.proxy.set('open');
  await eventually(async () => (await unsettled()) === 0);
  expect(await sessionOf(lost.tenant)).toMatchObject({ status: 'reserved' });
  expect((await lost.create()).body).toEqual(lost.session);
  const client = await openAgain(lost.session, behind.svc.streamUrl);
  expect(await client.close()).toEqual({ code: 1000, reason: 'completed' });
  expect(await findViolations(behind.database.pool)).toEqual([]);
});

test('a client that opens its session again before the claim is given back gets its stream', async () => {
  const lost = await loseCommittedClaim();
  expect(lost.refusal).toMatchObject({ status: 503 });
  behind.proxy.set('open');
  const client = await openAgain(lost.session, behind.svc.streamUrl);
  expect(await client.close()).toEqual({ code: 1000, reason: 'completed' });
  expect(await findViolations(behind.database.pool)).toEqual([]);
});

/** Opens a session with the same credential until it is no longer refused for now. */
async function openAgain(session: AsrSession, url: string): Promise<StreamClient> {
  let client: StreamClient | null = null;
  await eventually(async () => {
    client = await StreamClient.ready(session, { url }).catch((error: Error) => {
      if (error.message !== 'Unexpected server response: 503') throw error;
      return null;
    });
    return client !== null;
  });
  if (client === null) throw new Error('The session was not opened.');
  return client;
}

/** Claims that wait for a lock in the database. */
async function waitingClaims(): Promise<number> {
  const { rows } = await behind.database.pool.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
      where datname = current_database() and state = 'active' and query like '%claim_session(%' and pid <> pg_backend_pid()`,
  );
  return rows[0]?.count ?? 0;
}

test('a claim without an answer keeps its slot until the session is given back', async () => {
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
  const client = await openAgain(session, small.svc.streamUrl);
  expect(await client.close()).toEqual({ code: 1000, reason: 'completed' });
  await small.stop();
});
