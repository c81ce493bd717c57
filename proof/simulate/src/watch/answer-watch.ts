import type { Answer, Call } from '../ledger/database.ts';

/** Refusals that say that something else has the account's sessions or credit. */
const TAKEN = new Set<unknown>(['concurrency_limit_exceeded', 'insufficient_credits']);

/** A reservation and its idempotency key last this long, by the database's clock. */
const RESERVED_MS = 60_000;

/**
 * Checks that a repeated call gets the effect of the first one: one reservation for a request and for an idempotency key
 * as long as it lasts, and one upgrade for a session unless its claim was given back.
 */
export class AnswerWatch {
  readonly #report: (violation: string) => void;
  readonly #nowMs: () => number;
  readonly #reserved = new Map<string, { readonly id: unknown; readonly expiresAtMs: number }>();
  readonly #claimed = new Map<unknown, unknown>();

  /** `nowMs` is the database's clock. */
  constructor(report: (violation: string) => void, nowMs: () => number) {
    this.#report = report;
    this.#nowMs = nowMs;
  }

  onAnswer({ text, values }: Call, { rows }: Answer): void {
    const [row] = rows;
    if (row === undefined) return;
    if (text.includes('reserve_session(')) this.#onReserved(values, row['answer']);
    else if (text.includes('claim_session(')) this.#onClaimed(values, row['outcome']);
    else if (row['outcome'] === 'given_back') this.#claimed.delete(values[1]);
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
      const first = this.#reserved.get(name);
      const known = first !== undefined && first.expiresAtMs > this.#nowMs() ? first : undefined;
      if (known !== undefined && TAKEN.has(outcome)) {
        this.#report(`a repeated reservation is refused: ${String(outcome)}`);
      }
      if (outcome !== 'reserved') continue;
      if (known !== undefined && known.id !== id) this.#report('a request has two reservations');
      this.#reserved.set(name, known ?? { id, expiresAtMs: this.#nowMs() + RESERVED_MS });
    }
  }

  #onClaimed([, session, attempt]: readonly unknown[], outcome: unknown): void {
    if (outcome !== 'claimed') return;
    const known = this.#claimed.get(session) ?? attempt;
    this.#claimed.set(session, known);
    if (known !== attempt) this.#report('two upgrades claim the same session');
  }
}
