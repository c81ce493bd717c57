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
  set: (data: T) => void;
} {
  const [load, setLoad] = useState<Load<T>>({ state: 'loading' });
  const reload = useCallback(async () => {
    try {
      setLoad({ state: 'ready', data: await get<T>(path) });
    } catch (error) {
      setLoad({ state: 'error', error });
    }
  }, [path]);
  useEffect(() => {
    void reload();
  }, [reload]);
  return { load, reload, set: (data) => setLoad({ state: 'ready', data }) };
}
