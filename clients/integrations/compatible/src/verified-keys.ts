import type { SvcClient } from '@svc-asr/sdk';

/** How long a key needs no second question. The session that follows is refused if it was revoked meanwhile. */
const VERIFIED_MS = 60_000;
const KEYS_MAX = 10_000;
/** The service reserves whole seconds. */
const CREDIT_MS_MIN = 1_000;

/** What the service says about a key. */
export interface Verified {
  /** The same for all keys of one account. */
  readonly account: string;
  readonly hasCredit: boolean;
}

interface Question {
  readonly client: SvcClient;
  /** The part of the service's rate limit that the key's account shares, after a response. */
  readonly partition: () => string | null;
  readonly signal: AbortSignal;
}

/** Asks the service whether it knows a key before anything is done for it. Remembers hashes, not keys. */
export class VerifiedKeys {
  readonly #known = new Map<string, Verified & { readonly untilMs: number }>();

  /** Throws the service's refusal. */
  async verify(id: string, { client, partition, signal }: Question): Promise<Verified> {
    const known = this.#known.get(id);
    if (known !== undefined && known.untilMs > performance.now()) return known;
    const { available_ms, reserved_ms } = await client.usage.get({ signal });
    // Reserved credit comes back when a session ends, and a request waits for that.
    const hasCredit = available_ms + reserved_ms >= CREDIT_MS_MIN;
    const verified = { account: partition() ?? id, hasCredit };
    if (this.#known.size >= KEYS_MAX) this.#known.clear();
    // Credit that was just added counts at once.
    if (hasCredit) this.#known.set(id, { ...verified, untilMs: performance.now() + VERIFIED_MS });
    else this.#known.delete(id);
    return verified;
  }
}
