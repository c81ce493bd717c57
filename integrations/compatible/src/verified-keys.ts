import type { SvcClient } from '@svc-asr/sdk';

/** How long a key needs no second question. The session that follows is refused if it was revoked meanwhile. */
const VERIFIED_MS = 60_000;
const KEYS_MAX = 10_000;

/** Asks the service whether it knows a key before work is done for it. Remembers hashes, not keys. */
export class VerifiedKeys {
  readonly #untilMs = new Map<string, number>();

  /** Throws the service's refusal. */
  async verify(
    id: string,
    { client, signal }: { readonly client: SvcClient; readonly signal: AbortSignal },
  ): Promise<void> {
    if ((this.#untilMs.get(id) ?? 0) > performance.now()) return;
    await client.usage.get({ signal });
    if (this.#untilMs.size >= KEYS_MAX) this.#untilMs.clear();
    this.#untilMs.set(id, performance.now() + VERIFIED_MS);
  }
}
