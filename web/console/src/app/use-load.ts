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
    async (keeps: boolean, options: CallOptions) => {
      try {
        const data = await get<T>(path, options);
        setLoad({ state: 'ready', data, at: Date.now() });
      } catch (error) {
        const keepsData = keeps && !isSignedOut(error);
        setLoad((shown) =>
          keepsData && shown.state === 'ready' ? shown : { state: 'error', error },
        );
      }
    },
    [path],
  );
  const reload = useCallback(() => read(false, { signIn }), [read, signIn]);
  // One at a time: requests wait while the person signs in again.
  const readAgain = useCallback(
    async (options: CallOptions) => {
      if (refreshing.current) return;
      refreshing.current = true;
      await read(true, options);
      refreshing.current = false;
    },
    [read],
  );
  const refresh = useCallback(() => readAgain({ signIn }), [readAgain, signIn]);
  useEffect(() => {
    void reload();
  }, [reload]);
  const { recoveries } = useConnection();
  const seen = useRef(recoveries);
  const isShown = load.state === 'ready';
  useEffect(() => {
    // A session that ended during the outage must not replace the page.
    if (seen.current !== recoveries) void readAgain({ signIn: isShown ? 'wait' : signIn });
    seen.current = recoveries;
  }, [recoveries, readAgain, isShown, signIn]);
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
