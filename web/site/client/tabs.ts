import { readPreference, savePreference } from './storage.ts';

const PREFERENCE = 'docs-tab';
/** Other labels name examples of one page, so they are not remembered. */
const REMEMBERED = new Set(['curl', 'TypeScript', 'Python', 'CLI']);

/** Tabs by the WAI-ARIA pattern. A choice applies to every group that has the label, here and on other pages. */
export function startTabs(): void {
  const groups = [...document.querySelectorAll('[data-tabs]')].map(createGroup);
  const chooseEverywhere = (label: string): void => {
    for (const group of groups) group.choose(label);
  };
  const remembered = readPreference(PREFERENCE);
  if (remembered !== null) chooseEverywhere(remembered);
  for (const { tabs } of groups) {
    for (const [at, tab] of tabs.entries()) {
      tab.addEventListener('click', () => {
        const before = tab.getBoundingClientRect().top;
        if (REMEMBERED.has(tab.textContent)) savePreference(PREFERENCE, tab.textContent);
        chooseEverywhere(tab.textContent);
        // Groups above this one may have changed their height.
        window.scrollBy(0, tab.getBoundingClientRect().top - before);
      });
      tab.addEventListener('keydown', ({ key }) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
        if (step === undefined) return;
        const next = tabs[(at + step + tabs.length) % tabs.length];
        next?.click();
        next?.focus();
      });
    }
  }
}

interface Group {
  readonly tabs: readonly HTMLButtonElement[];
  readonly choose: (label: string) => void;
}

function createGroup(element: Element): Group {
  const tabs = [...element.querySelectorAll<HTMLButtonElement>('[role="tab"]')];
  const panels = [...element.querySelectorAll<HTMLElement>('[role="tabpanel"]')];
  return {
    tabs,
    choose(label) {
      const chosen = tabs.findIndex(({ textContent }) => textContent === label);
      if (chosen < 0) return;
      for (const [at, tab] of tabs.entries()) {
        tab.setAttribute('aria-selected', String(at === chosen));
        tab.tabIndex = at === chosen ? 0 : -1;
        panels[at]?.toggleAttribute('data-inactive', at !== chosen);
      }
    },
  };
}
