import { EXAMPLE_SERVICE } from '../src/example-addresses.ts';

/** Puts the address of this page into the examples, so that they can be copied and run. */
export function startOwnAddress(): void {
  const texts = document.createTreeWalker(
    document.querySelector('main') ?? document.body,
    NodeFilter.SHOW_TEXT,
  );
  while (texts.nextNode()) {
    const { currentNode: text } = texts;
    const value = text.nodeValue ?? '';
    if (value.includes(EXAMPLE_SERVICE)) {
      text.nodeValue = value.replaceAll(EXAMPLE_SERVICE, location.origin);
    }
  }
}
