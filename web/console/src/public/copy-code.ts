import { startCopying } from './copy.ts';

/** Copies the code of the chosen tab, and only the code. */
export function startCopyButton(): void {
  const button = document.querySelector<HTMLButtonElement>('[data-copy-code]');
  if (button === null) return;
  const { copied = '', failed = '' } = button.dataset;
  startCopying(button, () => Promise.resolve(shownCode()), { copied, failed });
}

function shownCode(): string {
  const codes = [...document.querySelectorAll<HTMLElement>('.code-panel code')];
  return codes.find((code) => code.offsetParent !== null)?.textContent ?? '';
}
