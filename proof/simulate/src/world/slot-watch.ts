import { SPECIFIC_MESSAGES } from '@svc-asr/protocol';
import { createLedger } from '@svc-asr/server/ledger/ledger.ts';
import type { Queryable } from '@svc-asr/server/platform/database/db.ts';
import type { HttpAnswer } from '../virtual/http.ts';
import { scheduler } from '../virtual/scheduler.ts';
import type { ClientRecord } from '../clients/client.ts';
import type { Plan } from './plan.ts';

/** Nobody waits longer for a slot of its account that is free. */
export const FREE_SLOT_MS = 6_000;
const LOOK_EVERY_MS = 250;

/** What it needs to know of the world. */
interface Watched {
  readonly clients: readonly ClientRecord[];
  readonly plan: Plan;
  readonly direct: Queryable;
  readonly violations: string[];
  readonly isStopping: boolean;
}

/** Checks that no application that was refused for its account's limit waits on while the account has a free slot. */
export class SlotWatch {
  readonly #world: Watched;
  /** Applications that wait, and since when their account has a free slot. */
  readonly #waiting = new Map<string, { freeSinceMs: number | null }>();
  #isLooking = false;

  constructor(world: Watched) {
    this.#world = world;
  }

  /** It asks again, whether or not anybody hears it. */
  onAsked(client: string): void {
    this.#waiting.delete(client);
  }

  onTold(client: string, answer: HttpAnswer): void {
    if (!isBlocked(answer)) return;
    this.#waiting.set(client, { freeSinceMs: null });
    if (this.#isLooking) return;
    this.#isLooking = true;
    scheduler.later(LOOK_EVERY_MS, () => void scheduler.hold(this.#look()));
  }

  async #look(): Promise<void> {
    const { clients, plan, violations, direct, isStopping } = this.#world;
    const ledger = createLedger(direct);
    for (const [name, waiting] of this.#waiting) {
      const client = clients.find((one) => one.plan.name === name);
      // Raw clients don't try again.
      if (client?.plan.kind !== 'sdk' || client.outcome !== 'running') {
        this.#waiting.delete(name);
        continue;
      }
      const account = plan.accounts.find(({ id }) => id === client.plan.accountId);
      const balance = await ledger.balance(client.plan.accountId);
      const live = (balance?.recentSessions ?? []).filter(({ status }) => LIVE.has(status));
      const isFree = live.length < (account?.concurrencyLimit ?? 0);
      waiting.freeSinceMs = isFree ? (waiting.freeSinceMs ?? scheduler.nowMs) : null;
      if (scheduler.nowMs - (waiting.freeSinceMs ?? Infinity) <= FREE_SLOT_MS) continue;
      violations.push(`slot: ${name} waits although its account has a free slot`);
      this.#waiting.delete(name);
    }
    this.#isLooking = this.#waiting.size > 0 && !isStopping;
    if (this.#isLooking) scheduler.later(LOOK_EVERY_MS, () => void scheduler.hold(this.#look()));
  }
}

const LIVE: ReadonlySet<string> = new Set(['reserved', 'active']);

/** The contract: an application that is blocked by a reservation is told to wait until that expires. */
function isBlocked({ status, body }: HttpAnswer): boolean {
  const answer = JSON.stringify(body);
  const isReserved = answer.includes(SPECIFIC_MESSAGES.concurrency_limit_exceeded.reserved);
  return status === 429 && answer.includes('"concurrency_limit_exceeded"') && !isReserved;
}
