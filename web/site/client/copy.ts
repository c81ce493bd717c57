const SHOWN_MS = 1_500;

/** Shows and starts the buttons that copy a block of code or the whole page as Markdown. */
export function startCopyButtons(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-copy]')) {
    start(button, () => Promise.resolve(codeBeside(button)));
  }
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-copy-page]')) {
    start(button, () => loadText(button.dataset['copyPage'] ?? ''));
  }
}

function start(button: HTMLButtonElement, read: () => Promise<string>): void {
  if (navigator.clipboard === undefined) return;
  const label = button.textContent;
  let timer = 0;
  const say = (text: string): void => {
    button.textContent = text;
    clearTimeout(timer);
    timer = window.setTimeout(() => (button.textContent = label), SHOWN_MS);
  };
  button.hidden = false;
  button.addEventListener('click', () => {
    read()
      .then((text) => navigator.clipboard.writeText(text))
      .then(
        () => say('Copied'),
        () => say('Failed'),
      );
  });
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
