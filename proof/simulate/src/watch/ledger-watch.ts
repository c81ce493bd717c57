import type { Answer, Call, LedgerDatabase, Snapshot } from '../ledger/database.ts';
import { errorCode } from '../ledger/recording.ts';
import { AnswerWatch } from './answer-watch.ts';
import { HistoryWatch } from './history-watch.ts';
import { LeaseWatch } from './lease-watch.ts';
import { PositionWatch } from './position-watch.ts';

/** Constraints, and refusals of closes that no correct process sends. A rolled back database may refuse more. */
const NEVER = /^(22|23|42|SVC02)/;
const NEVER_UNLESS_ROLLED_BACK = /^(SVC01|SVC03|SVC04)/;

/** A database that checks what the processes ask of it. */
export class LedgerWatch implements LedgerDatabase {
  readonly #inner: LedgerDatabase;
  readonly #violations: string[] = [];
  readonly #leases: LeaseWatch;
  readonly #answers: AnswerWatch;
  readonly #history: HistoryWatch;
  readonly #positions: PositionWatch;
  /** How each upgrade settled its session. */
  readonly #settled = new Map<string, string>();
  #isRolledBack = false;

  constructor(
    inner: LedgerDatabase,
    input: { readonly nowMs: () => number; readonly hungUntilMs: (node: string) => number },
  ) {
    this.#inner = inner;
    const report = (found: string): void => void this.#violations.push(found);
    this.#answers = new AnswerWatch(report, input.nowMs);
    this.#leases = new LeaseWatch(report, input.hungUntilMs);
    this.#history = new HistoryWatch(report);
    this.#positions = new PositionWatch(report);
  }

  async run(call: Call): Promise<Answer> {
    if (call.text.includes('close_session(')) this.#onClose(call.values);
    this.#leases.onCall(call);
    try {
      const answer = await this.#inner.run(call);
      this.#leases.onAnswer(call, answer);
      this.#answers.onAnswer(call, answer);
      this.#history.onAnswer(call, answer);
      this.#positions.onAnswer(call, answer);
      return answer;
    } catch (error) {
      const code = errorCode(error);
      this.#onError(call, code);
      this.#history.onError(call, code);
      throw error;
    }
  }

  /** A process asks. */
  onSent(call: Call): void {
    this.#positions.onSent(call);
  }

  /** The process that asked has the answer. */
  onAcknowledged(call: Call): void {
    this.#history.onAcknowledged(call);
    this.#positions.onAcknowledged(call);
  }

  snapshot(): Snapshot {
    return this.#inner.snapshot();
  }

  restore(snapshot: Snapshot): void {
    this.#isRolledBack = true;
    this.#answers.forget();
    this.#history.onReplaced();
    this.#inner.restore(snapshot);
  }

  restart(): void {
    this.#inner.restart();
  }

  reset(): void {
    this.#inner.reset();
  }

  async violations(): Promise<string[]> {
    return [...this.#violations, ...(await this.#inner.violations())];
  }

  liveSessions(): Promise<number> {
    return this.#inner.liveSessions();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  /** A settlement may be repeated, but never changed. */
  #onClose([, sessionId, status, samples, , , upgradeId]: readonly unknown[]): void {
    const upgrade = `${String(sessionId)} ${String(upgradeId)}`;
    const settlement = `${String(status)} with ${String(samples)} samples`;
    const known = this.#settled.get(upgrade) ?? settlement;
    this.#settled.set(upgrade, known);
    if (known === settlement) return;
    this.#violations.push(
      `session ${String(sessionId)} is settled as ${known}, then as ${settlement}`,
    );
  }

  #onError({ text }: Call, code: string): void {
    const isRefused = !this.#isRolledBack && NEVER_UNLESS_ROLLED_BACK.test(code);
    const isOurs = !/^[0-9A-Z]{5}$/.test(code);
    if (!isRefused && !isOurs && !NEVER.test(code)) return;
    this.#violations.push(`${/\w+(?=\()/.exec(text)?.[0] ?? text} fails with ${code}`);
  }
}
