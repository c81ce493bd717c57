const SHOWN_MS = 1_500;

/** Shows a button that copies what `read` returns, and then says for a moment how that went. */
export function startCopying(
  button: HTMLButtonElement,
  read: () => Promise<string>,
  says = { copied: 'Copied', failed: 'Failed' },
): void {
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
        () => say(says.copied),
        () => say(says.failed),
      );
  });
}
