import { useCallback, useEffect, useState } from 'react';
import { get } from './api.ts';

export type Load<T> =
  | { state: 'loading' }
  | { state: 'error'; error: unknown }
  | { state: 'ready'; data: T };

/** Loads one path. Keeps showing the old data until a reload finishes. */
export function useLoad<T>(path: string): {
  load: Load<T>;
  reload: () => Promise<void>;
  /** Like reload, but keeps the old data if the request fails. For polling. */
  refresh: () => Promise<void>;
  set: (data: T) => void;
} {
  const [load, setLoad] = useState<Load<T>>({ state: 'loading' });
  const read = useCallback(
    async (keeps: boolean) => {
      try {
        setLoad({ state: 'ready', data: await get<T>(path) });
      } catch (error) {
        setLoad((now) => (keeps && now.state === 'ready' ? now : { state: 'error', error }));
      }
    },
    [path],
  );
  const reload = useCallback(() => read(false), [read]);
  const refresh = useCallback(() => read(true), [read]);
  useEffect(() => {
    void reload();
  }, [reload]);
  return { load, reload, refresh, set: (data) => setLoad({ state: 'ready', data }) };
}
