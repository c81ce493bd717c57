import type { Answer, Call } from '../ledger/database.ts';

/** Refusals that say that something else has the account's sessions or credit. */
const TAKEN = new Set<unknown>(['concurrency_limit_exceeded', 'insufficient_credits']);

/**
 * Checks that a repeated call gets the effect of the first one: one reservation for a request and for an idempotency key,
 * and one upgrade for a session.
 */
export class AnswerWatch {
  readonly #report: (violation: string) => void;
  readonly #reserved = new Map<string, unknown>();
  readonly #claimed = new Map<unknown, unknown>();

  constructor(report: (violation: string) => void) {
    this.#report = report;
  }

  onAnswer({ text, values }: Call, { rows }: Answer): void {
    const [row] = rows;
    if (row === undefined) return;
    if (text.includes('reserve_session(')) this.#onReserved(values, row['answer']);
    else if (text.includes('claim_session(')) this.#onClaimed(values, row['outcome']);
  }

  /** A database that was rolled back knows none of it. */
  forget(): void {
    this.#reserved.clear();
    this.#claimed.clear();
  }

  #onReserved(values: readonly unknown[], answer: unknown): void {
    if (typeof answer !== 'object' || answer === null) return;
    const { outcome, session_id: id } = answer as { outcome?: unknown; session_id?: unknown };
    const [account, proposed, , , , , key] = values;
    const names = [`${String(account)} ${String(proposed)}`];
    if (Buffer.isBuffer(key)) names.push(`${String(account)} ${key.toString('hex')}`);
    for (const name of names) {
      const known = this.#reserved.get(name);
      if (known !== undefined && TAKEN.has(outcome)) {
        this.#report(`a repeated reservation is refused: ${String(outcome)}`);
      }
      if (outcome !== 'reserved') continue;
      if (known !== undefined && known !== id) this.#report('a request has two reservations');
      this.#reserved.set(name, id);
    }
  }

  #onClaimed([, session, attempt]: readonly unknown[], outcome: unknown): void {
    if (outcome !== 'claimed') return;
    const known = this.#claimed.get(session) ?? attempt;
    this.#claimed.set(session, known);
    if (known !== attempt) this.#report('two upgrades claim the same session');
  }
}
