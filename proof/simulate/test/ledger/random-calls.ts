import {
  createAccount,
  listSuspended,
  setAccountStatus,
  setConcurrency,
} from '@svc-asr/server/accounts/accounts.ts';
import { listEndRequested, requestSessionEnd } from '@svc-asr/server/sessions/end-requests.ts';
import { acceptLedgerHistory } from '@svc-asr/server/ledger/history-marks.ts';
import { HistoryGuard } from '@svc-asr/server/ledger/history-guard.ts';
import { createLedger, type Ledger } from '@svc-asr/server/ledger/ledger.ts';
import {
  findNode,
  listLiveNodes,
  registerNode,
  renewNode,
  retireNode,
} from '@svc-asr/server/nodes/nodes.ts';
import type { Queryable } from '@svc-asr/server/platform/database/db.ts';
import { createLog } from '@svc-asr/server/platform/observe/log.ts';
import { asQueryable, type LedgerDatabase, type Snapshot } from '../../src/ledger/database.ts';
import { Random } from '../../src/virtual/random.ts';

const MODEL = 'svc-asr-kikuyu-v1';
const NODES = ['n1', 'n2', 'n3'];
const URLS = ['wss://a.example/v1/asr/stream', 'wss://b.example/v1/asr/stream'];
/** Samples around the limits of milliseconds and seconds. */
const EDGES = [0, 1, 15, 16, 17, 15_999, 16_000, 16_001];

/** The clock of the database under test. */
export interface Clock {
  nowMs: number;
}

interface Session {
  readonly accountId: string;
  readonly sessionId: string;
  upgradeId: string;
}

/**
 * Calls the ledger as several API processes, nodes, sweepers and operators would, in an order that only the seed decides:
 * late, repeated, by the wrong node, after a rollback.
 */
export class RandomCalls {
  readonly #database: LedgerDatabase;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #db: Queryable;
  readonly #accounts: string[] = [];
  readonly #sessions: Session[] = [];
  readonly #epochs = new Map<string, number>();
  readonly #moves = new Map<string, string>();
  readonly #guards: HistoryGuard[];
  #snapshot: Snapshot | null = null;

  constructor(database: LedgerDatabase, clock: Clock, seed: number) {
    this.#database = database;
    this.#clock = clock;
    this.#random = new Random(seed);
    this.#db = asQueryable((call) => database.run(call));
    const log = createLog({ level: 'silent' });
    this.#guards = NODES.map((nodeId) => new HistoryGuard({ nodeId, log }));
  }

  async run(steps: number): Promise<void> {
    for (let count = 0; count < 3; count += 1) await this.#account();
    for (const id of NODES) await this.#register(id);
    for (let step = 0; step < steps; step += 1) {
      this.#clock.nowMs += this.#random.pick([0, 1, 40, 700, 900, 2_500, 9_000]);
      if (this.#random.chance(0.02)) this.#clock.nowMs += this.#random.integer(20_000, 400_000);
      if (this.#random.chance(0.01)) this.#clock.nowMs -= this.#random.integer(1, 90_000_000);
      // Refusals and errors are answers too. They are compared like any other.
      await this.#step().catch(() => {});
    }
  }

  #step(): Promise<unknown> {
    const random = this.#random;
    const ledger = createLedger(this.#db);
    const roll = random.integer(1, 100);
    if (roll <= 22) return this.#reserve();
    if (roll <= 40) return this.#claim();
    if (roll <= 46) return this.#giveBack();
    if (roll <= 60) return this.#close();
    if (roll <= 70) return ledger.sweep();
    if (roll <= 78) return this.#node();
    if (roll <= 84) return random.pick(this.#guards).verify(this.#db);
    if (roll <= 88) return ledger.balance(this.#anAccount());
    if (roll <= 92) return this.#credit();
    if (roll <= 96) return this.#operate();
    return this.#move();
  }

  async #account(): Promise<void> {
    const id = this.#random.uuid();
    await createAccount(this.#db, { id, name: 'simulated' });
    this.#accounts.push(id);
    await setConcurrency(this.#db, { id, limit: this.#random.integer(1, 3) });
    const ms = this.#random.pick([600_000, 90_500, 20_750, 999]);
    const grant = { accountId: id, ms, reason: 'first credit', actor: 'operator' };
    await createLedger(this.#db).grant({ ...grant, id: this.#random.uuid() });
  }

  #anAccount(): string {
    return this.#random.chance(0.02) ? this.#random.uuid() : this.#random.pick(this.#accounts);
  }

  async #reserve(): Promise<void> {
    const random = this.#random;
    if (random.chance(0.2)) await this.#lose(this.#aSession());
    const accountId = this.#anAccount();
    const key = random.chance(0.4) ? `key ${random.integer(1, 4)}` : null;
    const place = { id: random.pick(NODES), url: random.pick(URLS) };
    // Retried by hand, because the retry of a lost answer is part of what is compared.
    const known = random.chance(0.1) ? this.#sessions.at(-1) : undefined;
    const sessionId = known?.sessionId ?? random.uuid();
    await this.#db.query({
      text: 'select row_to_json(reserve_session($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)) as answer',
      values: [
        known?.accountId ?? accountId,
        sessionId,
        known !== undefined || random.chance(0.05),
        null,
        MODEL,
        random.integer(1, 90) * 1000,
        key === null ? null : hash(key),
        key === null ? null : hash(`request ${random.integer(1, 2)}`),
        ...(random.chance(0.05) ? [null, null] : [place.id, place.url]),
      ],
    });
    if (known === undefined) {
      this.#sessions.push({ accountId, sessionId, upgradeId: random.uuid() });
    }
  }

  async #lose({ accountId, sessionId }: Session): Promise<void> {
    await this.#db.query({
      text: 'select request_takeover($1, $2, $3) as requested',
      values: [accountId, sessionId, 'proof'],
    });
  }

  #aSession(): Session {
    const recent = this.#sessions.slice(-6);
    const random = this.#random;
    if (recent.length > 0 && random.chance(0.97)) return random.pick(recent);
    return { accountId: this.#anAccount(), sessionId: random.uuid(), upgradeId: random.uuid() };
  }

  #owner(): { nodeId: string; nodeEpoch: number } {
    const nodeId = this.#random.pick(NODES);
    const epoch = this.#epochs.get(nodeId) ?? 1;
    return { nodeId, nodeEpoch: this.#random.chance(0.1) ? Math.max(1, epoch - 1) : epoch };
  }

  /** Often of a process that remembers what was acknowledged to it. */
  #ledger(): Ledger {
    const ledger = createLedger(this.#db);
    return this.#random.chance(0.5) ? this.#random.pick(this.#guards).guard(ledger) : ledger;
  }

  #claim(): Promise<unknown> {
    const session = this.#aSession();
    if (this.#random.chance(0.2)) session.upgradeId = this.#random.uuid();
    return this.#ledger().claim({ ...session, ...this.#owner() });
  }

  #giveBack(): Promise<unknown> {
    const { accountId, sessionId, upgradeId } = this.#aSession();
    const attempt = this.#random.chance(0.2) ? this.#random.uuid() : upgradeId;
    return this.#ledger().giveBack({ accountId, sessionId, upgradeId: attempt });
  }

  #close(): Promise<unknown> {
    const { accountId, sessionId, upgradeId } = this.#aSession();
    const random = this.#random;
    const status = random.chance(0.3) ? 'failed' : 'completed';
    const samples = random.chance(0.3) ? random.pick(EDGES) : random.integer(0, 2_000_000);
    const attempt = random.pick([{}, { upgradeId }, { upgradeId }, { upgradeId: random.uuid() }]);
    const close = { accountId, sessionId, ...this.#owner(), status, samples, ...attempt } as const;
    return this.#ledger().close(close);
  }

  async #register(id: string): Promise<void> {
    const publicUrl = this.#random.pick(URLS);
    const epoch = await registerNode(this.#db, { id, publicUrl, models: [MODEL], capacity: 4 });
    this.#epochs.set(id, epoch);
  }

  async #node(): Promise<void> {
    const random = this.#random;
    const { nodeId: id, nodeEpoch: epoch } = this.#owner();
    const draining = random.chance(0.2);
    const roll = random.integer(1, 10);
    if (roll <= 5) await renewNode(this.#db, { id, epoch, active: 1, capacity: 4, draining });
    if (roll === 6) await this.#register(id);
    if (roll === 7 && random.chance(0.5)) await retireNode(this.#db, { id, epoch });
    if (roll === 8) await listLiveNodes(this.#db);
    if (roll === 9) await findNode(this.#db, random.pick([id, 'none']));
    if (roll === 10) await this.#report({ id, epoch });
  }

  async #report({ id, epoch }: { id: string; epoch: number }): Promise<void> {
    const ids = this.#sessions.slice(-3).map(({ sessionId }) => sessionId);
    const samples = ids.map(() => this.#random.integer(0, 900_000));
    await this.#db.query({
      text: 'select report_live_audio($1, $2, $3, $4)',
      values: [id, epoch, ids, samples],
    });
  }

  async #credit(): Promise<void> {
    const random = this.#random;
    const accountId = this.#anAccount();
    const id = random.chance(0.2) ? '00000000-0000-4000-8000-000000000000' : random.uuid();
    const ms = random.pick([600_000, 1_500, 60_000, -700, -100_000]);
    const input = { accountId, ms, reason: 'simulated', actor: 'operator', id };
    const ledger = createLedger(this.#db);
    if (random.chance(0.5)) await ledger.grant(input);
    else await ledger.adjust(input);
  }

  async #operate(): Promise<void> {
    const random = this.#random;
    const id = this.#anAccount();
    const { sessionId } = this.#aSession();
    const roll = random.integer(1, 6);
    if (roll === 1) {
      await setAccountStatus(this.#db, { id, status: 'suspended' });
      await listSuspended(this.#db, this.#accounts);
    }
    if (roll === 2) await setAccountStatus(this.#db, { id, status: 'active' });
    if (roll === 3) await setConcurrency(this.#db, { id, limit: random.integer(1, 4) });
    if (roll === 4) await requestSessionEnd(this.#db, sessionId);
    if (roll === 5) await listEndRequested(this.#db, [sessionId]);
    if (roll === 6) await acceptLedgerHistory(this.#db, 'simulated');
  }

  async #move(): Promise<void> {
    const random = this.#random;
    const id = this.#anAccount();
    const roll = random.integer(1, 12);
    if (roll === 1) {
      const text = 'select freeze_account($1, $2)';
      const { rows } = await this.#db.query<{ freeze_account: string }>(text, [id, 'k2']);
      this.#moves.set(id, rows[0]?.freeze_account ?? '');
    }
    const moveId = this.#moves.get(id) ?? random.uuid();
    if (roll <= 3) await this.#db.query('select seal_account($1, $2) as live', [id, moveId]);
    if (roll >= 4 && roll <= 7) await this.#db.query('select cancel_move($1) as cancelled', [id]);
    if (roll === 8) this.#snapshot = this.#database.snapshot();
    if (roll === 9 && this.#snapshot !== null) this.#database.restore(this.#snapshot);
    if (roll === 10) this.#database.restart();
  }
}

function hash(text: string): Buffer {
  return Buffer.alloc(32, text);
}
