import type { Answer, Call } from '../ledger/database.ts';

/** The answers of `close_session` to a node that claims a session of which the database knows no claim. */
const UNKNOWN_CLAIM: ReadonlySet<string> = new Set(['SVC01', 'SVC04']);

/** Checks that no node uses a database that lacks a claim which was acknowledged to it, before an operator accepts the loss. */
export class HistoryWatch {
  readonly #report: (violation: string) => void;
  readonly #claimed = new Set<unknown>();
  readonly #acknowledged = new Set<unknown>();
  /** Upgrades that were acknowledged before the database was replaced by another. */
  #before = new Set<unknown>();
  #isAccepted = false;

  constructor(report: (violation: string) => void) {
    this.#report = report;
  }

  onAnswer({ text, values }: Call, { rows }: Answer): void {
    if (text.includes('accept_ledger_history(')) this.#onAccepted();
    const isClaimed = text.includes('claim_session(') && rows[0]?.['outcome'] === 'claimed';
    if (isClaimed) this.#claimed.add(values[2]);
  }

  /** The answer has arrived. */
  onAcknowledged({ text, values }: Call): void {
    const isClaim = text.includes('claim_session(') && this.#claimed.has(values[2]);
    if (isClaim) this.#acknowledged.add(values[2]);
  }

  onReplaced(): void {
    if (!this.#isAccepted) this.#before = new Set(this.#acknowledged);
  }

  /**
   * The acceptance is part of the database. A copy of it, put back before all processes have seen the acceptance, makes
   * them accept what they lack then.
   */
  #onAccepted(): void {
    this.#isAccepted = true;
    this.#before.clear();
  }

  onError({ text, values }: Call, code: string): void {
    if (!text.includes('close_session(') || !UNKNOWN_CLAIM.has(code)) return;
    const [, , , , node, , attempt] = values;
    if (!this.#before.has(attempt)) return;
    this.#report(`${String(node)} uses a database that lacks a claim of its own`);
  }
}
