/** Marks the heading that the reader has reached in the table of contents. */
export function startContents(): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('[data-contents] a')];
  if (links.length === 0) return;
  const headings = links
    .map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))))
    .filter((heading) => heading !== null);
  let isQueued = false;
  const mark = (): void => {
    isQueued = false;
    const line = 120;
    const passed = headings.filter((heading) => heading.getBoundingClientRect().top <= line);
    const isAtEnd =
      window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 2;
    const current = isAtEnd && passed.length > 0 ? lastVisible(headings) : passed.at(-1);
    for (const link of links) {
      const isCurrent = current !== undefined && decodeURIComponent(link.hash) === `#${current.id}`;
      if (isCurrent) link.setAttribute('aria-current', 'location');
      else link.removeAttribute('aria-current');
    }
  };
  const queue = (): void => {
    if (isQueued) return;
    isQueued = true;
    requestAnimationFrame(mark);
  };
  document.addEventListener('scroll', queue, { passive: true });
  mark();
}

function lastVisible(headings: readonly HTMLElement[]): HTMLElement | undefined {
  const below = headings.findIndex(
    (heading) => heading.getBoundingClientRect().top >= window.innerHeight,
  );
  return below < 0 ? headings.at(-1) : headings[below - 1];
}
