const WIDE = '6000000';

/** Settings of a service whose rate limits a campaign doesn't reach. */
export const WIDE_LIMITS = {
  RATE_SESSIONS: WIDE,
  RATE_USAGE: WIDE,
  RATE_MODELS: WIDE,
  RATE_FAILED_AUTHENTICATION: WIDE,
  RATE_FAILED_UPGRADES: WIDE,
} as const;
