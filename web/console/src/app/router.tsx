import {
  useEffect,
  useState,
  useSyncExternalStore,
  type AnchorHTMLAttributes,
  type MouseEvent,
} from 'react';

/** A minimal router. The URL is the only state. */
const listeners = new Set<() => void>();
/** Asked before the page changes. Null: nothing would be lost. */
let guard: ((go: () => void) => void) | null = null;
let shown = address();

function address(): string {
  return location.pathname + location.search;
}

addEventListener('popstate', () => {
  const wanted = address();
  if (guard !== null && wanted !== shown) {
    // The browser has already gone back: return, and ask.
    history.pushState(null, '', shown);
    guard(() => go(wanted));
    return;
  }
  shown = wanted;
  for (const listener of listeners) listener();
});

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function usePath(): string {
  return useSyncExternalStore(subscribe, () => location.pathname.replace(/\/+$/, ''));
}

/** The query of the address. */
export function useSearch(): URLSearchParams {
  return new URLSearchParams(useSyncExternalStore(subscribe, () => location.search));
}

export function navigate(path: string): void {
  if (guard === null || path === shown) go(path);
  else guard(() => go(path));
}

function go(path: string): void {
  if (path !== address()) history.pushState(null, '', path);
  shown = path;
  for (const listener of listeners) listener();
  scrollTo(0, 0);
}

/** Asks before the page is left while `active`. The browser asks itself when the tab is closed. */
export function useLeaveGuard(active: boolean): {
  asked: boolean;
  go: () => void;
  stay: () => void;
} {
  const [leave, setLeave] = useState<(() => void) | null>(null);
  useEffect(() => {
    if (!active) return undefined;
    const onUnload = (event: BeforeUnloadEvent) => event.preventDefault();
    guard = (next) => setLeave(() => next);
    addEventListener('beforeunload', onUnload);
    return () => {
      guard = null;
      setLeave(null);
      removeEventListener('beforeunload', onUnload);
    };
  }, [active]);
  return { asked: leave !== null, go: () => leave?.(), stay: () => setLeave(null) };
}

export function Link({
  href,
  ...rest
}: AnchorHTMLAttributes<HTMLAnchorElement> & { href: string }) {
  function follow(event: MouseEvent<HTMLAnchorElement>): void {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    navigate(href);
  }
  return <a href={href} onClick={follow} {...rest} />;
}
