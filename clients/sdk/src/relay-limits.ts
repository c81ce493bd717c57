/** The defaults of `relay`: its largest input and its longest audio. */
export const RELAY_LIMITS = { bytes: 64 * 1024 * 1024, durationMs: 600_000 } as const;
