import type { ConsoleKey } from '@svc-asr/protocol/console/console.ts';

/** Keys from the command line may have no name. */
export function nameOf(key: ConsoleKey): string {
  return key.name === '' ? `${key.hint}…` : key.name;
}

/** Two live keys with one name are a rotation: the older one was replaced. */
export function rotationOf(key: ConsoleKey, keys: readonly ConsoleKey[]): 'new' | 'old' | null {
  const twin = keys.find(
    (other) =>
      other.id !== key.id &&
      other.name === key.name &&
      other.status === 'live' &&
      key.status === 'live',
  );
  if (twin === undefined) return null;
  return Date.parse(twin.created_at) < Date.parse(key.created_at) ? 'new' : 'old';
}

const RECENT_MS = 3_600_000;

/** Whether a server probably still uses the key. */
export function isInUse(key: ConsoleKey, now: string): boolean {
  if (key.last_used_at === null) return false;
  return Date.parse(now) - Date.parse(key.last_used_at) < RECENT_MS;
}
