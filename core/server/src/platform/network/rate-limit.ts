import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { ApiError } from '../api-error.ts';

/** Allows `perMinute` requests a minute and up to `burst` of them at once. */
export interface RatePolicy {
  readonly perMinute: number;
  readonly burst: number;
}

export interface RateDecision {
  readonly allowed: boolean;
  /** Requests still allowed at once. */
  readonly remaining: number;
  /** Time until one more request is allowed. 0 when the bucket is full. */
  readonly resetSeconds: number;
}

export interface RateLimiter {
  readonly policy: RatePolicy;
  /** Takes one token. A refused call takes none. */
  take(key: string): RateDecision | Promise<RateDecision>;
}

export interface LocalRateLimiter extends RateLimiter {
  take(key: string): RateDecision;
}

/** Returns the 429 of a limit that is reported only when it is exceeded, with the IETF draft's headers. */
export function rateLimited(
  name: string,
  { policy }: RateLimiter,
  decision: RateDecision,
): ApiError {
  return new ApiError('request_rate_exceeded', {
    retryAfterSeconds: decision.resetSeconds,
    headers: {
      'ratelimit-policy': `"${name}";q=${policy.perMinute};w=60`,
      ratelimit: `"${name}";r=${decision.remaining};t=${decision.resetSeconds}`,
    },
  });
}

/** Decides for a bucket that will be full again after `owedMs`. */
function decide(policy: RatePolicy, owedMs: number): RateDecision {
  const tokenMs = 60_000 / policy.perMinute;
  const tokens = policy.burst - owedMs / tokenMs;
  // The tolerance lets a caller that waits exactly `resetSeconds` pass.
  const allowed = tokens >= 1 - 1e-6;
  const left = Math.max(0, tokens - (allowed ? 1 : 0));
  const missing = left >= policy.burst ? 0 : 1 - (left - Math.floor(left));
  return {
    allowed,
    remaining: Math.floor(left + 1e-6),
    resetSeconds: Math.max(0, Math.ceil((missing * tokenMs) / 1000 - 1e-6)),
  };
}

/** Bounds memory under attack. The least recently used keys are dropped first. */
const KEYS_MAX = 100_000;

/**
 * A token bucket of `burst` tokens, refilled at `perMinute`. It stores one number per key: when the bucket would be
 * full again. Each process counts for itself, so several processes together allow that many times the rate.
 */
export function createRateLimiter(policy: RatePolicy, clock: Clock): LocalRateLimiter {
  const tokenMs = 60_000 / policy.perMinute;
  const fullAt = new Map<string, number>();

  function take(key: string): RateDecision {
    const now = clock.monotonicMs();
    const owed = Math.max(0, (fullAt.get(key) ?? 0) - now);
    const decision = decide(policy, owed);
    if (decision.allowed) remember(key, now + owed + tokenMs);
    return decision;
  }
  function remember(key: string, moment: number): void {
    fullAt.delete(key);
    fullAt.set(key, moment);
    if (fullAt.size <= KEYS_MAX) return;
    for (const oldest of fullAt.keys()) {
      fullAt.delete(oldest);
      return;
    }
  }
  return { policy, take };
}

/** Counts that several processes share. */
export interface SharedCounts {
  /** The previous debt of the bucket in milliseconds. Null if it is not known in time. */
  take(key: string, policy: RatePolicy): Promise<number | null>;
}

/**
 * Counts in Redis, shared with other processes. While Redis is unavailable, each process counts on its
 * own, so an outage neither refuses customers nor disables the limit.
 */
export function createSharedRateLimiter(
  policy: RatePolicy,
  shared: { readonly name: string; readonly counts: SharedCounts; readonly clock: Clock },
): RateLimiter {
  const local = createRateLimiter(policy, shared.clock);
  return {
    policy,
    async take(key) {
      // Hashed, so that Redis holds no client addresses and keys stay short.
      const hash = createHash('sha256').update(key).digest('base64url');
      const owedMs = await shared.counts.take(`svc:rate:${shared.name}:${hash}`, policy);
      return owedMs === null ? local.take(key) : decide(policy, owedMs);
    },
  };
}
