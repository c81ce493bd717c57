import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { ModelId } from '@svc-asr/protocol';
import {
  createAccount,
  setAccountStatus,
  setConcurrency,
} from '@svc-asr/server/accounts/accounts.ts';
import type { Pool } from '@svc-asr/server/platform/db.ts';
import {
  createLedger,
  type Balance,
  type Ledger,
  type ReserveResult,
} from '@svc-asr/server/ledger/ledger.ts';
import { registerNode } from '@svc-asr/server/nodes/nodes.ts';
import {
  likelyStep,
  modelAge,
  modelBalance,
  modelClaim,
  modelClose,
  modelCredit,
  modelReserve,
  modelRestart,
  newModelAccount,
  pickSession,
  type ModelAccount,
  type Step,
} from './ledger-model.ts';
import { backdateSession } from '../postgres/time-travel.ts';

/** Runs every step in the database and in the model, and compares the results. */
export interface Walk {
  readonly accountId: string;
  /** Throws if the response or the balance differs from the model. */
  step(step: Step): Promise<void>;
  /** Compares the response only. A wrong balance stays wrong, so a later step finds it. */
  act(step: Step): Promise<void>;
  /** Next steps of well-behaved clients and operators. */
  likely(): Step;
  /** Number of sessions started so far. */
  sessions(): number;
}

export class Divergence extends Error {}

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

const MODEL: ModelId = 'svc-asr-kikuyu-v1';
const NOTHING_TO_SAY: Taken = { said: null, expected: null };

/** Creates an account with its own node. */
export async function startWalk(input: { owner: Pool; service: Pool }): Promise<Walk> {
  const accountId = await createAccount(input.owner, { name: 'Model' });
  const node = {
    id: `node-${accountId}`,
    publicUrl: 'wss://node.example/v1/asr/stream',
    models: [MODEL],
    capacity: 1,
  };
  const account = newModelAccount(await register(input, node));
  const ledger = createLedger(input.service);
  const operator = createLedger(input.owner);
  const world: World = { ...input, accountId, account, ledger, operator, node };

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
      const balance = await ledger.balance(accountId);
      mustEqual(withoutTimes(balance), modelBalance(account), `the balance after ${step.do}`);
    },
  };
}

/** Registers a node whose lease does not expire, because leases have their own tests. */
async function register(
  db: { owner: Pool; service: Pool },
  node: Parameters<typeof registerNode>[1],
): Promise<number> {
  const epoch = await registerNode(db.service, node);
  await db.owner.query(`update nodes set lease_until = 'infinity' where id = $1`, [node.id]);
  return epoch;
}

async function take(world: World, step: Step): Promise<Taken> {
  const { account, accountId, owner } = world;
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
    case 'grant':
    case 'adjust':
      return takeCredit(world, step);
    case 'status': {
      account.active = step.active;
      const status = step.active ? 'active' : 'suspended';
      return { said: await setAccountStatus(owner, { id: accountId, status }), expected: true };
    }
    case 'limit': {
      account.limit = step.limit;
      const { limit } = step;
      return { said: await setConcurrency(owner, { id: accountId, limit }), expected: true };
    }
    case 'sweep':
      await world.ledger.sweep();
      return NOTHING_TO_SAY;
  }
}

async function takeReserve(world: World, step: Step & { do: 'reserve' }): Promise<Taken> {
  const said = await world.ledger.reserve({
    accountId: world.accountId,
    keyId: null,
    model: MODEL,
    requestedMs: step.seconds * 1000,
    idempotencyKey: step.key,
    node: step.room ? { id: world.node.id, url: world.node.publicUrl } : null,
  });
  const newId = said.outcome === 'reserved' ? said.session.id : 'none';
  return { said: inWords(said), expected: modelReserve(world.account, step, newId) };
}

function inWords(result: ReserveResult): string {
  switch (result.outcome) {
    case 'reserved': {
      const { id, reservedMs, remainingMs } = result.session;
      return `${result.replayed ? 'replayed' : 'reserved'} ${id} ${reservedMs} ${remainingMs}`;
    }
    case 'concurrency_limit_exceeded':
      return `${result.outcome} ${result.blocker}`;
    case 'idempotency_conflict':
    case 'insufficient_credits':
    case 'no_capacity':
    case 'account_moving':
    case 'account_inactive':
      return result.outcome;
  }
}

async function takeClaim(world: World, step: Step & { do: 'claim' }): Promise<Taken> {
  const { account } = world;
  const session = pickSession(account, step.pick);
  const upgradeId = (step.sameAttempt ? session?.claim?.upgradeId : undefined) ?? randomUUID();
  const said = await world.ledger.claim({
    sessionId: session?.id ?? randomUUID(),
    accountId: world.accountId,
    nodeId: world.node.id,
    nodeEpoch: account.epoch,
    upgradeId,
  });
  return { said: said.outcome, expected: modelClaim(account, session, upgradeId) };
}

async function takeClose(world: World, step: Step & { do: 'close' }): Promise<Taken> {
  const { account } = world;
  const session = pickSession(account, step.pick);
  // A session that was never claimed cannot complete, and a node never tries.
  const impossible = session?.status === 'reserved' && !step.failed;
  if (session === undefined || impossible) return NOTHING_TO_SAY;
  const upgradeId = step.sameAttempt ? session.claim?.upgradeId : randomUUID();
  const said = await world.ledger.close({
    ...(upgradeId === undefined ? {} : { upgradeId }),
    sessionId: session.id,
    accountId: world.accountId,
    status: step.failed ? 'failed' : 'completed',
    samples: step.samples,
    nodeId: world.node.id,
    nodeEpoch: (step.sameProcess ? session.claim?.epoch : undefined) ?? account.epoch,
  });
  return { said, expected: modelClose(account, session, step) };
}

async function takeAge(world: World, step: Step & { do: 'age' }): Promise<Taken> {
  const session = pickSession(world.account, step.pick);
  if (session === undefined || session.aged) return NOTHING_TO_SAY;
  await backdateSession(world.owner, { sessionId: session.id, ms: 60_000 });
  modelAge(world.account, session);
  return NOTHING_TO_SAY;
}

async function takeRestart(world: World): Promise<Taken> {
  const { account } = world;
  const epoch = await register(world, world.node);
  const said = epoch > account.epoch;
  await sweepWhile(world, `status = 'active'`);
  modelRestart(account, epoch);
  return { said, expected: true };
}

async function takeCredit(world: World, step: Step & { do: 'grant' | 'adjust' }): Promise<Taken> {
  const input = {
    accountId: world.accountId,
    ms: step.ms,
    reason: 'a step of the model',
    actor: 'model',
    id: randomUUID(),
  };
  await sweepReservations(world);
  // Sent twice, applied once.
  await world.operator[step.do](input);
  const said = await world.operator[step.do](input);
  return { said: said.outcome, expected: modelCredit(world.account, step.ms) };
}

/** Expired credit is in the account row only after a sweep, so only then can an adjustment take it. */
function sweepReservations(world: World): Promise<void> {
  return sweepWhile(world, `status = 'reserved' and expires_at <= clock_timestamp()`);
}

/** Others may sweep at the same time, and a sweep skips rows that another has locked. */
async function sweepWhile(world: World, condition: string): Promise<void> {
  for (;;) {
    const { rows } = await world.owner.query<{ left: boolean }>(
      `select exists (
        select from sessions where account_id = $1 and slot is not null and ${condition}
      ) as left`,
      [world.accountId],
    );
    if (rows[0]?.left !== true) return;
    await world.ledger.sweep();
  }
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

function mustEqual(said: unknown, expected: unknown, what: string): void {
  if (isDeepStrictEqual(said, expected)) return;
  throw new Divergence(
    `${what}: the ledger returned ${JSON.stringify(said)}, the model ${JSON.stringify(expected)}`,
  );
}
