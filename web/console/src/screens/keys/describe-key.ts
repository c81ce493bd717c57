import type { ConsoleKey } from '@svc-asr/protocol/console/console.ts';

/** Keys from the command line may have no name. */
export function nameOf(key: ConsoleKey): string {
  return key.name === '' ? `${key.hint}…` : key.name;
}

/** While a key and its successor are both live, the older one waits to be revoked. */
export function rotationOf(key: ConsoleKey, keys: readonly ConsoleKey[]): 'new' | 'old' | null {
  if (key.successor !== null) return 'old';
  return keys.some(({ successor }) => successor === key.id) ? 'new' : null;
}

const RECENT_MS = 3_600_000;

/** Whether a server probably still uses the key. */
export function isInUse(key: ConsoleKey, now: string): boolean {
  if (key.last_used_at === null) return false;
  return Date.parse(now) - Date.parse(key.last_used_at) < RECENT_MS;
}
