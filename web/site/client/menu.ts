/** On narrow screens the sidebar is a panel that this button opens. */
export function startMenu(): void {
  const button = document.querySelector<HTMLButtonElement>('[data-menu]');
  if (button === null) return;
  const { documentElement } = document;
  const setOpen = (isOpen: boolean): void => {
    documentElement.classList.toggle('menu-open', isOpen);
    button.setAttribute('aria-expanded', String(isOpen));
  };
  button.addEventListener('click', () => setOpen(!documentElement.classList.contains('menu-open')));
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' || !documentElement.classList.contains('menu-open')) return;
    setOpen(false);
    button.focus();
  });
  // A link to a heading of this page doesn't load a new one.
  document.querySelector('#sidebar')?.addEventListener('click', (event) => {
    if (event.target instanceof HTMLAnchorElement) setOpen(false);
  });
  const current = document.querySelector('#sidebar [aria-current="page"]');
  if (current !== null) scrollIntoSidebar(current);
}

/** Shows the current page's link without scrolling the page itself. */
function scrollIntoSidebar(link: Element): void {
  const sidebar = document.querySelector('#sidebar');
  if (sidebar === null) return;
  const offset = link.getBoundingClientRect().top - sidebar.getBoundingClientRect().top;
  if (offset > sidebar.clientHeight * 0.8) sidebar.scrollTop += offset - sidebar.clientHeight / 3;
}
