import { useCallback, useEffect, useRef, useState } from 'react';
import { get, isSignedOut, type CallOptions } from './api.ts';
import { showFigures, useConnection } from './connection.ts';

export type Load<T> =
  | { state: 'loading' }
  | { state: 'error'; error: unknown }
  | { state: 'ready'; data: T; at: number };

/** Loads one path, and loads it again after an outage. Keeps showing the old data until a reload finishes. */
export function useLoad<T>(
  path: string,
  { signIn = 'wait' }: CallOptions = {},
): {
  load: Load<T>;
  reload: () => Promise<void>;
  /** Like reload, but keeps the old data if the request fails. For polling. */
  refresh: () => Promise<void>;
  set: (data: T) => void;
} {
  const [load, setLoad] = useState<Load<T>>({ state: 'loading' });
  const refreshing = useRef(false);
  const read = useCallback(
    async (keeps: boolean) => {
      try {
        const data = await get<T>(path, { signIn });
        setLoad({ state: 'ready', data, at: Date.now() });
      } catch (error) {
        const keepsData = keeps && !isSignedOut(error);
        setLoad((now) => (keepsData && now.state === 'ready' ? now : { state: 'error', error }));
      }
    },
    [path, signIn],
  );
  const reload = useCallback(() => read(false), [read]);
  // One at a time: requests wait while the person signs in again.
  const refresh = useCallback(async () => {
    if (refreshing.current) return;
    refreshing.current = true;
    await read(true);
    refreshing.current = false;
  }, [read]);
  useEffect(() => {
    void reload();
  }, [reload]);
  const { recoveries } = useConnection();
  const seen = useRef(recoveries);
  useEffect(() => {
    if (seen.current !== recoveries) void refresh();
    seen.current = recoveries;
  }, [recoveries, refresh]);
  const at = load.state === 'ready' ? load.at : null;
  // The sign-in and the person behind it are no figures.
  const isFigure = at !== null && signIn === 'wait';
  useEffect(() => (isFigure ? showFigures(at) : undefined), [at, isFigure]);
  return {
    load,
    reload,
    refresh,
    set: (data) => setLoad({ state: 'ready', data, at: Date.now() }),
  };
}
