import type { Clock } from './clock.ts';
import type { RatePolicy } from './config.ts';
import { ApiError } from './errors.ts';

export interface RateDecision {
  readonly allowed: boolean;
  /** How many more would be allowed at once. */
  readonly remaining: number;
  /** Until one more is allowed than now; 0 when the bucket is full. */
  readonly resetSeconds: number;
}

export interface RateLimiter {
  readonly policy: RatePolicy;
  /** Counts one. */
  take(key: string): RateDecision;
  /** Counts nothing: would one be allowed? */
  peek(key: string): RateDecision;
}

/** What a refusal says of a limit that is told of only when it is met, in the headers of the IETF draft. */
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

/** More keys than this at once only an attacker brings; the longest unused are forgotten first. */
const KEYS_MAX = 100_000;

/**
 * A bucket of `burst` tokens, refilled at `perMinute`. Kept as one number a key: the moment at which its bucket
 * would be full again. Per process: with several processes a caller gets up to that many times the rate.
 */
export function createRateLimiter(policy: RatePolicy, clock: Clock): RateLimiter {
  const tokenMs = 60_000 / policy.perMinute;
  const fullAt = new Map<string, number>();

  function decide(key: string, count: 0 | 1): RateDecision {
    const now = clock.monotonicMs();
    const owed = Math.max(0, (fullAt.get(key) ?? 0) - now);
    const tokens = policy.burst - owed / tokenMs;
    // A breath of tolerance: a caller that waits exactly as long as it was told must not be refused.
    const allowed = tokens >= 1 - 1e-6;
    const spent = allowed ? count : 0;
    if (spent === 1) remember(key, now + owed + tokenMs);
    const left = Math.max(0, tokens - spent);
    const missing = left >= policy.burst ? 0 : 1 - (left - Math.floor(left));
    return {
      allowed,
      remaining: Math.floor(left + 1e-6),
      resetSeconds: Math.max(0, Math.ceil((missing * tokenMs) / 1000 - 1e-6)),
    };
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
  return { policy, take: (key) => decide(key, 1), peek: (key) => decide(key, 0) };
}
