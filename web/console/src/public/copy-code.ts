const SHOWN_MS = 2_000;

/** Copies the code of the chosen tab, and only the code. */
export function startCopyButton(): void {
  const button = document.querySelector<HTMLButtonElement>('[data-copy-code]');
  if (button === null || !('clipboard' in navigator)) return;
  button.hidden = false;
  button.addEventListener('click', () => void copyShown(button));
}

async function copyShown(button: HTMLButtonElement): Promise<void> {
  const { textContent: label } = button;
  const codes = [...document.querySelectorAll<HTMLElement>('.code-panel code')];
  const shown = codes.find((code) => code.offsetParent !== null);
  await navigator.clipboard.writeText(shown?.textContent ?? '');
  button.disabled = true;
  button.textContent = button.dataset['copied'] ?? label;
  setTimeout(() => {
    button.textContent = label;
    button.disabled = false;
  }, SHOWN_MS);
}
