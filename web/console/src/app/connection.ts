import { useSyncExternalStore } from 'react';

/** What the page knows about its server. All requests report here, and all screens read from here. */
export interface Connection {
  /** Null while the server answers. */
  readonly trouble: 'unreachable' | 'failing' | null;
  /** When the oldest of the figures on the screen was loaded, or null if there are none. */
  readonly figuresAt: number | null;
  /** A request was refused with 401. Requests wait until the person has signed in again. */
  readonly signedOut: boolean;
  /** Rises when the server answers again. Screens then reload their data. */
  readonly recoveries: number;
}

let now: Connection = { trouble: null, figuresAt: null, signedOut: false, recoveries: 0 };
const KEYS = ['trouble', 'figuresAt', 'signedOut', 'recoveries'] as const;
const listeners = new Set<() => void>();
const figures = new Map<symbol, number>();
let waiting: (() => void)[] = [];

function change(next: Partial<Connection>): void {
  const changed = { ...now, ...next };
  if (KEYS.every((key) => changed[key] === now[key])) return;
  now = changed;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useConnection(): Connection {
  return useSyncExternalStore(subscribe, () => now);
}

export function reportTrouble(trouble: 'unreachable' | 'failing'): void {
  change({ trouble });
}

export function reportAnswer(): void {
  if (now.trouble === null) return;
  change({ trouble: null, recoveries: now.recoveries + 1 });
}

/** Registers figures on the screen. Returns a function that removes them. */
export function showFigures(loadedAt: number): () => void {
  const id = Symbol('figures');
  const update = () =>
    change({ figuresAt: figures.size === 0 ? null : Math.min(...figures.values()) });
  figures.set(id, loadedAt);
  update();
  return () => {
    figures.delete(id);
    update();
  };
}

/** Asks for a new sign-in. Resolves after it. */
export function signInAgain(): Promise<void> {
  change({ signedOut: true });
  return untilSignedIn();
}

export function untilSignedIn(): Promise<void> {
  if (!now.signedOut) return Promise.resolve();
  return new Promise((resolve) => waiting.push(resolve));
}

export function signedInAgain(): void {
  change({ signedOut: false });
  const resumed = waiting;
  waiting = [];
  for (const resume of resumed) resume();
}

// The browser notices a lost network before any request fails.
addEventListener('offline', () => reportTrouble('unreachable'));
