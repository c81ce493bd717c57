import { savePreference } from './storage.ts';

const NEXT = { system: 'light', light: 'dark', dark: 'system' } as const;
type Theme = keyof typeof NEXT;

/** The button steps through the themes: that of the system, light, dark. */
export function startThemeButton(): void {
  const button = document.querySelector<HTMLButtonElement>('[data-theme-button]');
  if (button === null) return;
  const show = (theme: Theme): void => {
    button.setAttribute('aria-label', `Theme: ${theme}`);
    button.title = `Theme: ${theme}`;
  };
  show(currentTheme());
  button.addEventListener('click', () => {
    const theme = NEXT[currentTheme()];
    savePreference('theme', theme);
    if (theme === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme;
    show(theme);
  });
}

function currentTheme(): Theme {
  const theme = document.documentElement.dataset['theme'];
  return theme === 'light' || theme === 'dark' ? theme : 'system';
}
