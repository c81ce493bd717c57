import { useSyncExternalStore, type AnchorHTMLAttributes, type MouseEvent } from 'react';

/** A minimal router. The URL is the only state. */
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  addEventListener('popstate', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('popstate', listener);
  };
}

export function usePath(): string {
  return useSyncExternalStore(subscribe, () => location.pathname.replace(/\/+$/, ''));
}

export function navigate(path: string): void {
  if (path !== location.pathname) history.pushState(null, '', path);
  for (const listener of listeners) listener();
  scrollTo(0, 0);
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
