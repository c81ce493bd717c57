import type { SearchSection } from '../src/search-index.ts';
import { createSearch, type Hit, type Search } from './search-engine.ts';
import { excerpt } from './search-excerpt.ts';

let engine: Promise<Search> | undefined;
let dialog: SearchDialog | undefined;

/** Loads the index. A failed attempt is repeated the next time. */
export function prepare(): Promise<Search> {
  engine ??= fetch('/docs/search.json')
    .then((response) => response.json())
    .then((sections: SearchSection[]) => createSearch(sections))
    .catch((error: unknown) => {
      engine = undefined;
      throw error;
    });
  return engine;
}

export function openSearch(): void {
  dialog ??= createDialog();
  dialog.open();
}

interface SearchDialog {
  open(): void;
}

function createDialog(): SearchDialog {
  const box = element('dialog', { class: 'search', 'aria-label': 'Search the documentation' });
  const input = element('input', {
    type: 'search',
    placeholder: 'Search the documentation',
    'aria-label': 'Search the documentation',
    role: 'combobox',
    'aria-expanded': 'false',
    'aria-controls': 'search-results',
    'aria-autocomplete': 'list',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const list = element('div', { id: 'search-results', role: 'listbox', 'aria-label': 'Results' });
  const note = element('p', { class: 'search-note', role: 'status' });
  const close = element('button', { type: 'button', class: 'search-close' }, 'Close');
  const head = element('div', { class: 'search-head' });
  head.append(input, close);
  box.append(head, list, note);
  document.body.append(box);

  let active = -1;
  const options = (): HTMLElement[] => [...list.querySelectorAll<HTMLElement>('[role="option"]')];
  const activate = (next: number): void => {
    const all = options();
    active = all.length === 0 ? -1 : (next + all.length) % all.length;
    for (const [at, option] of all.entries()) {
      option.setAttribute('aria-selected', String(at === active));
    }
    const chosen = all[active];
    if (chosen === undefined) input.removeAttribute('aria-activedescendant');
    else {
      input.setAttribute('aria-activedescendant', chosen.id);
      chosen.scrollIntoView({ block: 'nearest' });
    }
  };
  const show = (hits: readonly Hit[], query: string): void => {
    list.replaceChildren(...hits.map(renderHit));
    input.setAttribute('aria-expanded', String(hits.length > 0));
    note.textContent = query !== '' && hits.length === 0 ? `Nothing found for “${query}”.` : '';
    activate(0);
  };
  const update = async (): Promise<void> => {
    const query = input.value.trim();
    try {
      const search = await prepare();
      // A slower answer to an earlier query must not replace this one.
      if (query === input.value.trim()) show(query === '' ? [] : search(query), query);
    } catch {
      note.textContent = 'The search index could not be loaded. Check your connection.';
    }
  };
  input.addEventListener('input', () => void update());
  input.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') activate(active + 1);
    else if (event.key === 'ArrowUp') activate(active - 1);
    else if (event.key === 'Enter') options()[active]?.click();
    else return;
    event.preventDefault();
  });
  close.addEventListener('click', () => box.close());
  box.addEventListener('click', (event) => {
    const isLink = event.target instanceof Element && event.target.closest('a') !== null;
    // A click beside the dialog, or on a result that may be on this page.
    if (event.target === box || isLink) box.close();
  });
  return {
    open() {
      if (box.open) return;
      void prepare().catch(() => undefined);
      box.showModal();
      input.select();
    },
  };
}

function renderHit({ section, terms }: Hit, at: number): HTMLElement {
  const link = element('a', {
    href: section.url,
    role: 'option',
    id: `search-result-${at}`,
    'aria-selected': 'false',
    tabindex: '-1',
  });
  const title = element('span', { class: 'hit-title' }, section.heading || section.page);
  const path = section.heading === '' ? section.group : `${section.group} · ${section.page}`;
  const place = element('span', { class: 'hit-place' }, path);
  const text = element('span', { class: 'hit-text' });
  for (const { text: part, isMatch } of excerpt(section.text, terms)) {
    text.append(isMatch ? element('mark', {}, part) : part);
  }
  link.append(place, title, text);
  return link;
}

function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>>,
  text?: string,
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}
