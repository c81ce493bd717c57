/** How much of something accounts hold, such as bytes on the disk: each of them, and all together. */
export class Budget {
  readonly #total: number;
  readonly #perAccount: number;
  readonly #held = new Map<string, number>();
  #sum = 0;

  constructor(limits: { readonly total: number; readonly perAccount: number }) {
    this.#total = limits.total;
    this.#perAccount = limits.perAccount;
  }

  get sum(): number {
    return this.#sum;
  }

  heldBy(account: string): number {
    return this.#held.get(account) ?? 0;
  }

  /** Whether the account itself may hold this much more. */
  allows(account: string, amount: number): boolean {
    return this.heldBy(account) + amount <= this.#perAccount;
  }

  /** False, and nothing taken, if the account or all together would hold too much. */
  take(account: string, amount: number): boolean {
    if (!this.allows(account, amount) || this.#sum + amount > this.#total) return false;
    this.#change(account, amount);
    return true;
  }

  give(account: string, amount: number): void {
    this.#change(account, -amount);
  }

  #change(account: string, by: number): void {
    const held = this.heldBy(account) + by;
    if (held > 0) this.#held.set(account, held);
    else this.#held.delete(account);
    this.#sum += by;
  }
}
