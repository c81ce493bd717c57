/** Measures durations. Only the database's clock decides about expiry and leases. */
export interface Clock {
  monotonicMs(): number;
}

export const systemClock: Clock = { monotonicMs: () => performance.now() };
