import { useCallback, useEffect, useState, type ComponentType } from 'react';
import { ErrorNotice } from './feedback.tsx';
import { PageHead } from './surfaces.tsx';
import { ConsoleApiError, get } from '../app/api.ts';
import { useTexts } from '../app/language.tsx';

type Loaded<P> = { default: ComponentType<P> };

/** A screen that is loaded when it is first visited. */
export function lazyScreen<P extends object>(load: () => Promise<Loaded<P>>): ComponentType<P> {
  let screen: ComponentType<P> | null = null;
  return function LazyScreen(props: P) {
    const [, setLoaded] = useState(screen !== null);
    const [error, setError] = useState<unknown>(null);
    const read = useCallback(async () => {
      setError(null);
      try {
        screen = (await load()).default;
        reloadedFor(null);
        setLoaded(true);
      } catch (cause) {
        await recover(cause).catch(setError);
      }
    }, []);
    const start = useCallback(() => void read(), [read]);
    useEffect(() => {
      if (screen === null) start();
    }, [start]);
    const texts = useTexts();
    if (error !== null) {
      return (
        <>
          <PageHead title={texts.connection.notLoaded} />
          <ErrorNotice error={error} onRetry={start} />
        </>
      );
    }
    const Screen = screen;
    return Screen === null ? <div className="skeleton h-40" /> : <Screen {...props} />;
  };
}

/**
 * Reloads the page once if the server answers: a new version has replaced the file. Throws if the server doesn't
 * answer, or if the reload didn't help.
 */
async function recover(cause: unknown): Promise<void> {
  // Fails with "offline" if there is no server, which is then the reason to show.
  await get('/sign-in/methods', { signIn: 'fail' });
  if (reloadedFor() === location.pathname) {
    throw new ConsoleApiError({ code: 'file_missing', message: String(cause), requestId: null });
  }
  reloadedFor(location.pathname);
  location.reload();
}

/** The page that was reloaded for a missing file. Read, set or cleared. Lasts as long as the tab. */
function reloadedFor(path?: string | null): string | null {
  const name = 'reloaded';
  try {
    if (path === undefined) return sessionStorage.getItem(name);
    if (path === null) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, path);
    return path;
  } catch {
    // Without storage a second reload can't be told from the first, so there is none.
    return location.pathname;
  }
}
