/** Opens the search on a click, on "/" and on Ctrl+K. The search itself is loaded when it is first needed. */
export function startSearchButton(): void {
  const button = document.querySelector<HTMLButtonElement>('[data-search]');
  if (button === null) return;
  button.addEventListener('click', () => void open());
  // The pointer is on its way: the index arrives before the click.
  button.addEventListener('pointerenter', () => void prepare(), { once: true });
  document.addEventListener('keydown', (event) => {
    const isShortcut = event.key === 'k' && (event.ctrlKey || event.metaKey);
    if (!isShortcut && (event.key !== '/' || isTyping(event.target))) return;
    event.preventDefault();
    void open();
  });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

async function open(): Promise<void> {
  const { openSearch } = await import('./search-dialog.ts');
  openSearch();
}

async function prepare(): Promise<void> {
  const dialog = await import('./search-dialog.ts');
  await dialog.prepare().catch(() => undefined);
}
