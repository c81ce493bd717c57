/** How far one SIGUSR2 moves the clock of skipping-main.ts. Shorter than every timeout of the service. */
export const SKIP_MS = 15_000;
/** What it prints when everything that watches the time has looked at the clock again. */
export const SKIPPED = 'skipped';
