import type { Answer, Call } from '../ledger/database.ts';

/**
 * Checks that a process never forgets how much of the ledger's history it has seen. One that does takes an older database
 * for the complete one: also after it has refused that database, and for as long as nobody has accepted the loss.
 */
export class PositionWatch {
  readonly #report: (violation: string) => void;
  readonly #answers = new WeakMap<Call, Answer>();
  /** By process. */
  readonly #seen = new Map<unknown, number>();

  constructor(report: (violation: string) => void) {
    this.#report = report;
  }

  onSent({ text, values }: Call): void {
    if (!text.includes('mark_ledger(')) return;
    const [process, node, position] = values;
    const seen = this.#seen.get(process) ?? 0;
    if (typeof position === 'number' && position >= seen) return;
    this.#report(`${String(node)} asks for position ${String(position)} after it has seen ${seen}`);
  }

  onAnswer(call: Call, answer: Answer): void {
    if (call.text.includes('mark_ledger(')) this.#answers.set(call, answer);
  }

  /** The answer has arrived. */
  onAcknowledged(call: Call): void {
    const [row] = this.#answers.get(call)?.rows ?? [];
    const [process] = call.values;
    if (row === undefined || row['outcome'] === 'rolled_back') return;
    const marked = Number(row['marked']);
    const seen = this.#seen.get(process) ?? 0;
    // An operator who accepts the loss accepts the position of that database.
    this.#seen.set(process, row['outcome'] === 'accepted' ? marked : Math.max(seen, marked));
  }
}
