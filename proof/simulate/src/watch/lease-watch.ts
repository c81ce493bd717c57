import type { Answer, Call } from '../ledger/database.ts';
import { scheduler } from '../virtual/scheduler.ts';

const LEASE_MS = 6_000;
/** How long a call can be under way: two attempts, each with a wait for a connection and one for the answer. */
const UNDER_WAY_MS = 7_000;

/** Checks that nodes act only while they may: with a valid lease, and on a database that has their whole history. */
export class LeaseWatch {
  readonly #report: (violation: string) => void;
  readonly #hungUntilMs: (node: string) => number;
  readonly #renewedAtMs = new Map<unknown, number>();
  readonly #refusedAtMs = new Map<unknown, number>();

  /** `hungUntilMs` says until when the event loop of a node hung. */
  constructor(report: (violation: string) => void, hungUntilMs: (node: string) => number) {
    this.#report = report;
    this.#hungUntilMs = hungUntilMs;
  }

  onCall({ text, values }: Call): void {
    const node = text.includes('claim_session(')
      ? values[3]
      : text.includes('close_session(')
        ? values[4]
        : undefined;
    if (typeof node !== 'string') return;
    // What it began before its event loop hung continues now.
    if (scheduler.nowMs - this.#hungUntilMs(node) < UNDER_WAY_MS) return;
    const refusedMs = scheduler.nowMs - (this.#refusedAtMs.get(node) ?? Infinity);
    if (refusedMs > UNDER_WAY_MS) {
      this.#report(`${node} uses a database that it refused ${Math.round(refusedMs)} ms ago`);
    }
    if (!text.includes('claim_session(')) return;
    const ageMs = scheduler.nowMs - (this.#renewedAtMs.get(node) ?? -Infinity);
    if (ageMs > LEASE_MS + UNDER_WAY_MS) {
      this.#report(`${node} claims a session ${Math.round(ageMs)} ms after its lease was renewed`);
    }
  }

  onAnswer({ text, values }: Call, { rows }: Answer): void {
    const [first] = rows;
    const isRenewed = first?.['renewed'] === true || text.includes('register_node(');
    if (isRenewed) this.#renewedAtMs.set(values[0], scheduler.nowMs);
    // A process that starts has no history yet, so it accepts any database.
    if (text.includes('register_node(')) this.#refusedAtMs.delete(values[0]);
    if (!text.includes('mark_ledger(')) return;
    const node = values[1];
    if (first?.['outcome'] !== 'rolled_back') this.#refusedAtMs.delete(node);
    else if (!this.#refusedAtMs.has(node)) this.#refusedAtMs.set(node, scheduler.nowMs);
  }
}
