/** A session lasts for 60 s. One that is received later than this would expire before it is opened. */
const KEPT_MS = 50_000;
const KEPT_MAX = 100;

/**
 * Idempotency keys of calls that failed. The service may have reserved a session whose response was lost, or came after
 * the caller gave up. The next call for the same takes the same key, so it gets that session. With another key it would
 * be refused for up to a minute because of it.
 */
export class UnansweredKeys {
  #kept: readonly { readonly what: string; readonly key: string; readonly askedAt: number }[] = [];

  /** Runs a call with an idempotency key that no other call has at the same time. */
  async use<T>(what: string, call: (key: string) => Promise<T>): Promise<T> {
    const now = performance.now();
    this.#kept = this.#kept.filter(({ askedAt }) => now - askedAt < KEPT_MS);
    const kept = this.#kept.find((one) => one.what === what);
    this.#kept = this.#kept.filter((one) => one !== kept);
    const used = kept ?? { what, key: crypto.randomUUID(), askedAt: now };
    try {
      return await call(used.key);
    } catch (error) {
      this.#kept = [...this.#kept, used].slice(-KEPT_MAX);
      throw error;
    }
  }
}
