import { startCopying } from '../../console/src/public/copy.ts';

/** Shows and starts the buttons that copy a block of code or the whole page as Markdown. */
export function startCopyButtons(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-copy]')) {
    startCopying(button, () => Promise.resolve(codeBeside(button)));
  }
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-copy-page]')) {
    startCopying(button, () => loadText(button.dataset['copyPage'] ?? ''));
  }
}

/** Prompts are shown, but not copied. */
function codeBeside(button: HTMLButtonElement): string {
  const text = button.parentElement?.querySelector('pre')?.textContent ?? '';
  return text.replaceAll(/^\$ /gm, '');
}

async function loadText(url: string): Promise<string> {
  const response = await fetch(url);
  if (!response.ok) throw new Error('The page was not loaded.');
  return response.text();
}
