import { useEffect } from 'react';
import { useLoad } from '../../../app/use-load.ts';

const EVERY_MS = 10_000;

/** Loads a path, and loads it again every ten seconds while the page is visible. */
export function useRefreshed<T>(path: string): ReturnType<typeof useLoad<T>> {
  const loaded = useLoad<T>(path);
  const { refresh } = loaded;
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') void refresh();
    }, EVERY_MS);
    return () => clearInterval(timer);
  }, [refresh]);
  return loaded;
}
