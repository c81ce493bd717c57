/** What is left of one of the service's rate limits, from the `RateLimit` response header. */
export interface RateLimit {
  /** The limit's name, such as `sessions`. */
  readonly name: string;
  /** How many more requests are allowed now. */
  readonly remaining: number;
  /** How long until one more request is allowed. */
  readonly resetMs: number;
  /** Requests with the same value share the limit: those with any key of one account. Null if the service doesn't say. */
  readonly partition: string | null;
}

const RATE_LIMIT = /^\s*"([^"]*)"\s*;\s*r=(\d+)\s*;\s*t=(\d+)(?:\s*;\s*pk=:([\w+/=-]*):)?/;

/** Parses `"sessions";r=9;t=2;pk=:…:` (IETF draft "RateLimit header fields for HTTP"). Null if absent or malformed. */
export function parseRateLimit(header: string | null): RateLimit | null {
  const match = RATE_LIMIT.exec(header ?? '');
  if (match === null) return null;
  const [, name = '', remaining, seconds, partition = null] = match;
  return { name, remaining: Number(remaining), resetMs: Number(seconds) * 1000, partition };
}
