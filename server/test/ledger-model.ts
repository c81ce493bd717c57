import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ModelId } from '@svc-asr/protocol';
import { createAccount, setAccountStatus, setConcurrency } from '../src/accounts/accounts.ts';
import type { Pool } from '../src/db.ts';
import {
  createLedger,
  type Balance,
  type Ledger,
  type SessionStatus,
} from '../src/ledger/ledger.ts';
import { registerNode } from '../src/nodes.ts';
import { makeOlder } from './time-travel.ts';

/**
 * One account as plain arithmetic. Every step is done twice, here and in the database, and both
 * must say the same: the answer of the step and the whole balance after it.
 */

/**
 * `pick` chooses among what there is at that moment, so that any list of steps can be walked and
 * shortened.
 */
export type Step =
  | {
      readonly do: 'reserve';
      readonly seconds: number;
      readonly key: string | null;
      readonly room: boolean;
    }
  | { readonly do: 'claim'; readonly pick: number; readonly sameAttempt: boolean }
  | {
      readonly do: 'close';
      readonly pick: number;
      readonly samples: number;
      readonly failed: boolean;
    }
  | { readonly do: 'age'; readonly pick: number }
  | { readonly do: 'restart' }
  | { readonly do: 'status'; readonly active: boolean }
  | { readonly do: 'limit'; readonly limit: number }
  | { readonly do: 'grant'; readonly ms: number }
  | { readonly do: 'adjust'; readonly ms: number }
  | { readonly do: 'sweep' };

interface ModelSession {
  readonly id: string;
  readonly reservedMs: number;
  readonly remainingMs: number;
  readonly request: string;
  status: SessionStatus;
  /** Its sixty seconds are over. */
  aged: boolean;
  claim: { attemptId: string; epoch: number } | null;
  samples: number;
  billableMs: number;
}

interface ModelAccount {
  active: boolean;
  limit: number;
  availableMs: number;
  consumedMs: number;
  epoch: number;
  /** Oldest first. */
  readonly sessions: ModelSession[];
  readonly keys: Map<string, ModelSession>;
}

export interface Walk {
  readonly accountId: string;
  /** Throws when the answer, or the balance after it, is not the model's. */
  step(step: Step): Promise<void>;
  /**
   * Throws when the answer is not the model's. A wrong balance stays wrong: a later step finds it.
   */
  act(step: Step): Promise<void>;
  /** What a client and an operator who mean well would do next. */
  likely(): Step;
  /** How many sessions were begun so far. */
  sessions(): number;
}

const MODEL: ModelId = 'svc-asr-kikuyu-v1';
const RECENT = 20;

/** A new account, walked by its own node. */
export async function startWalk(input: { owner: Pool; service: Pool }): Promise<Walk> {
  const accountId = await createAccount(input.owner, { name: 'Model' });
  const node = {
    id: `node-${accountId}`,
    publicUrl: 'wss://node.example/v1/asr/stream',
    models: [MODEL],
    capacity: 1,
  };
  const account: ModelAccount = {
    active: true,
    limit: 1,
    availableMs: 0,
    consumedMs: 0,
    epoch: await register(input, node),
    sessions: [],
    keys: new Map(),
  };
  const world: World = {
    ...input,
    accountId,
    account,
    ledger: createLedger(input.service),
    operator: createLedger(input.owner),
    node,
  };
  async function act(step: Step): Promise<void> {
    const { said, expected } = await take(world, step);
    mustEqual(said, expected, `the answer to ${JSON.stringify(step)}`);
  }
  return {
    accountId,
    sessions: () => account.sessions.length,
    likely: () => likelyStep(account),
    act,
    async step(step) {
      await act(step);
      const balance = await world.ledger.balance(accountId);
      mustEqual(withoutTimes(balance), expectedBalance(account), `the balance after ${step.do}`);
    },
  };
}

/** With a lease that does not end: leases have tests of their own. */
async function register(
  db: { owner: Pool; service: Pool },
  node: Parameters<typeof registerNode>[1],
): Promise<number> {
  const epoch = await registerNode(db.service, node);
  await db.owner.query(`update nodes set lease_until = 'infinity' where id = $1`, [node.id]);
  return epoch;
}

function likelyStep(account: ModelAccount): Step {
  if (!account.active) return { do: 'status', active: true };
  if (account.availableMs < 1_000) return { do: 'grant', ms: 600_000 };
  const newest = pick(account.sessions, 0);
  if (newest?.status === 'reserved') return { do: 'claim', pick: 0, sameAttempt: false };
  if (newest?.status === 'active') {
    return { do: 'close', pick: 0, samples: account.sessions.length * 4_001, failed: false };
  }
  return { do: 'reserve', seconds: 60, key: null, room: true };
}

interface World {
  readonly owner: Pool;
  readonly service: Pool;
  readonly accountId: string;
  readonly account: ModelAccount;
  readonly ledger: Ledger;
  readonly operator: Ledger;
  readonly node: Parameters<typeof registerNode>[1];
}

interface Taken {
  readonly said: unknown;
  readonly expected: unknown;
}

async function take(world: World, step: Step): Promise<Taken> {
  switch (step.do) {
    case 'reserve':
      return takeReserve(world, step);
    case 'claim':
      return takeClaim(world, step);
    case 'close':
      return takeClose(world, step);
    case 'age':
      return takeAge(world, step);
    case 'restart':
      return takeRestart(world);
    case 'status':
      world.account.active = step.active;
      return {
        said: await setAccountStatus(world.owner, {
          id: world.accountId,
          status: step.active ? 'active' : 'suspended',
        }),
        expected: true,
      };
    case 'limit':
      world.account.limit = step.limit;
      return {
        said: await setConcurrency(world.owner, { id: world.accountId, limit: step.limit }),
        expected: true,
      };
    case 'grant':
    case 'adjust':
      return takeCredit(world, step);
    case 'sweep':
      await world.ledger.sweep();
      return { said: null, expected: null };
  }
}

async function takeReserve(world: World, step: Step & { do: 'reserve' }): Promise<Taken> {
  const { account } = world;
  const said = await world.ledger.reserve({
    accountId: world.accountId,
    keyId: null,
    model: MODEL,
    requestedMs: step.seconds * 1000,
    idempotencyKey: step.key,
    node: step.room ? { id: world.node.id, url: world.node.publicUrl } : null,
  });
  const answer =
    said.outcome === 'reserved'
      ? `${said.replayed ? 'replayed' : 'reserved'} ${said.session.reservedMs} ${said.session.remainingMs}`
      : said.outcome === 'concurrency_limit_exceeded'
        ? `${said.outcome} ${said.blocker}`
        : said.outcome;

  const known = step.key === null ? undefined : account.keys.get(step.key);
  const live = liveSessions(account);
  const reservedMs = Math.min(step.seconds * 1000, Math.floor(account.availableMs / 1000) * 1000);
  const remainingMs = account.availableMs - reservedMs;
  const request = String(step.seconds);
  if (!account.active) return { said: answer, expected: 'account_inactive' };
  if (known !== undefined && !known.aged) {
    if (known.request !== request) return { said: answer, expected: 'idempotency_conflict' };
    const sameId = said.outcome === 'reserved' && said.session.id === known.id;
    const expected = `replayed ${known.reservedMs} ${known.remainingMs} true`;
    return { said: `${answer} ${sameId}`, expected };
  }
  if (live.length >= account.limit) {
    const blocker = live.some((session) => session.status === 'reserved') ? 'reserved' : 'active';
    return { said: answer, expected: `concurrency_limit_exceeded ${blocker}` };
  }
  if (reservedMs < 1000) return { said: answer, expected: 'insufficient_credits' };
  if (!step.room) return { said: answer, expected: 'no_capacity' };
  if (said.outcome === 'reserved') {
    const session: ModelSession = {
      id: said.session.id,
      reservedMs,
      remainingMs,
      request,
      status: 'reserved',
      aged: false,
      claim: null,
      samples: 0,
      billableMs: 0,
    };
    account.sessions.push(session);
    account.availableMs = remainingMs;
    if (step.key !== null) account.keys.set(step.key, session);
  }
  return { said: answer, expected: `reserved ${reservedMs} ${remainingMs}` };
}

async function takeClaim(world: World, step: Step & { do: 'claim' }): Promise<Taken> {
  const { account } = world;
  const session = pick(account.sessions, step.pick);
  const attemptId = step.sameAttempt && session?.claim ? session.claim.attemptId : randomUUID();
  const said = await world.ledger.claim({
    sessionId: session?.id ?? randomUUID(),
    accountId: world.accountId,
    nodeId: world.node.id,
    nodeEpoch: account.epoch,
    attemptId,
  });
  if (session === undefined) return { said: said.outcome, expected: 'unknown' };
  if (session.claim !== null) {
    const again =
      session.status === 'active' &&
      session.claim.attemptId === attemptId &&
      session.claim.epoch === account.epoch;
    return { said: said.outcome, expected: again ? 'claimed' : 'used' };
  }
  if (session.status !== 'reserved') return { said: said.outcome, expected: 'expired' };
  if (!account.active) return { said: said.outcome, expected: 'account_inactive' };
  session.status = 'active';
  session.claim = { attemptId, epoch: account.epoch };
  return { said: said.outcome, expected: 'claimed' };
}

async function takeClose(world: World, step: Step & { do: 'close' }): Promise<Taken> {
  const { account } = world;
  const session = pick(account.sessions, step.pick);
  // What was never claimed cannot complete: a node never asks that.
  if (session === undefined || (session.status === 'reserved' && !step.failed)) {
    return { said: null, expected: null };
  }
  const said = await world.ledger.close({
    sessionId: session.id,
    accountId: world.accountId,
    status: step.failed ? 'failed' : 'completed',
    samples: step.samples,
    nodeId: world.node.id,
    nodeEpoch: account.epoch,
  });
  if (session.status !== 'reserved' && session.status !== 'active') {
    return { said, expected: 'already' };
  }
  const samples = session.status === 'active' ? Math.min(step.samples, session.reservedMs * 16) : 0;
  const billableMs = step.failed
    ? 0
    : Math.min(session.reservedMs, Math.ceil(samples / 16_000) * 1000);
  end(account, session, { status: step.failed ? 'failed' : 'completed', samples, billableMs });
  return { said, expected: 'closed' };
}

async function takeAge(world: World, step: Step & { do: 'age' }): Promise<Taken> {
  const session = pick(world.account.sessions, step.pick);
  if (session === undefined || session.aged) return { said: null, expected: null };
  await makeOlder(world.owner, { sessionId: session.id, ms: 60_000 });
  session.aged = true;
  if (session.status === 'reserved') end(world.account, session, { status: 'expired' });
  return { said: null, expected: null };
}

/** The node restarts: streams of the process that was are failed and free. */
async function takeRestart(world: World): Promise<Taken> {
  const { account } = world;
  const epoch = await register(world, world.node);
  const said = epoch > account.epoch;
  account.epoch = epoch;
  const orphans = account.sessions.filter((session) => session.status === 'active');
  for (const session of orphans) end(account, session, { status: 'failed' });
  for (let left = orphans.length > 0; left;) {
    await world.ledger.sweep();
    const { rows } = await world.owner.query<{ left: boolean }>(
      `select exists (select from sessions where account_id = $1 and status = 'active') as left`,
      [world.accountId],
    );
    left = rows[0]?.left === true;
  }
  return { said, expected: true };
}

async function takeCredit(world: World, step: Step & { do: 'grant' | 'adjust' }): Promise<Taken> {
  const { account } = world;
  const input = {
    accountId: world.accountId,
    ms: step.ms,
    reason: 'a step of the model',
    actor: 'model',
    id: randomUUID(),
  };
  // Sent twice, done once.
  await world.operator[step.do](input);
  const said = await world.operator[step.do](input);
  // What has lapsed is not back in the row yet, and an adjustment does not fetch it.
  const sweptMs = account.availableMs - (await lapsedMs(world));
  if (step.ms < 0 && sweptMs + step.ms < 0) {
    return { said: said.outcome, expected: 'insufficient_credits' };
  }
  account.availableMs += step.ms;
  return { said: said.outcome, expected: 'posted' };
}

async function lapsedMs(world: World): Promise<number> {
  const { rows } = await world.owner.query<{ ms: number }>(
    `select coalesce(sum(reserved_ms), 0)::bigint as ms from sessions
      where account_id = $1 and status = 'reserved' and expires_at <= clock_timestamp()`,
    [world.accountId],
  );
  return rows[0]?.ms ?? 0;
}

function end(
  account: ModelAccount,
  session: ModelSession,
  how: { status: SessionStatus; samples?: number; billableMs?: number },
): void {
  session.status = how.status;
  session.samples = how.samples ?? 0;
  session.billableMs = how.billableMs ?? 0;
  account.availableMs += session.reservedMs - session.billableMs;
  account.consumedMs += session.billableMs;
}

function liveSessions(account: ModelAccount): ModelSession[] {
  return account.sessions.filter(
    (session) => session.status === 'reserved' || session.status === 'active',
  );
}

/** Mostly the newest: those are the ones where something can still happen. */
function pick(sessions: readonly ModelSession[], index: number): ModelSession | undefined {
  return sessions[sessions.length - 1 - (index % Math.max(1, Math.min(sessions.length, 5)))];
}

function expectedBalance(account: ModelAccount): unknown {
  return {
    availableMs: account.availableMs,
    reservedMs: liveSessions(account).reduce((sum, session) => sum + session.reservedMs, 0),
    consumedMs: account.consumedMs,
    recent: account.sessions
      .slice(-RECENT)
      .toReversed()
      .map((session) => ({
        id: session.id,
        status: session.status,
        audioMs: Math.ceil(session.samples / 16),
        billableMs: session.billableMs,
        over: session.status !== 'reserved' && session.status !== 'active',
      })),
  };
}

function withoutTimes(balance: Balance | null): unknown {
  return {
    availableMs: balance?.availableMs,
    reservedMs: balance?.reservedMs,
    consumedMs: balance?.consumedMs,
    recent: balance?.recentSessions.map((session) => ({
      id: session.id,
      status: session.status,
      audioMs: session.audioMs,
      billableMs: session.billableMs,
      over: session.completedAt !== null,
    })),
  };
}

export class Divergence extends Error {}

function mustEqual(said: unknown, expected: unknown, what: string): void {
  if (isDeepStrictEqual(said, expected)) return;
  throw new Divergence(
    `${what}: the ledger says ${JSON.stringify(said)}, the model ${JSON.stringify(expected)}`,
  );
}
