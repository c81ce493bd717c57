/** Time for measuring how long. What time it is, expiry and leases are the database's to say. */
export interface Clock {
  monotonicMs(): number;
}

export const systemClock: Clock = { monotonicMs: () => performance.now() };
