import { useCallback, useEffect, useState } from 'react';
import { get } from './api.ts';

export type Load<T> =
  | { state: 'loading' }
  | { state: 'error'; error: unknown }
  | { state: 'ready'; data: T };

/** Loads one address. A reload keeps showing what was there until the new answer has come. */
export function useLoad<T>(path: string): {
  load: Load<T>;
  reload: () => Promise<void>;
  /** For a clock: an answer that does not come takes nothing off the screen. */
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
