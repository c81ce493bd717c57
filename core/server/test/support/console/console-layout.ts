import type { Page } from 'playwright-core';

/** Expressions for a page that return a sentence for each mistake in its layout. */

/** Content that is wider than the window. */
export const OVERFLOW = `[document.documentElement]
  .map((page) => page.scrollWidth - page.clientWidth)
  .filter((pixels) => pixels > 0)
  .map((pixels) => 'The page is ' + pixels + ' pixels too wide')`;

/** Content that is wider than its card or, for a figure, than its box. */
export const OVERFLOWING_CARDS = `[...document.querySelectorAll('.card, dl > div')]
  .filter((card) => card.scrollWidth > card.clientWidth + 1)
  .map((card) => 'A card is too narrow for ' + card.textContent)`;

/** Short email addresses that are broken over two lines, though a wide screen has room for them. */
export const BROKEN_ADDRESSES = `[...document.querySelectorAll('main td *')]
  .flatMap((element) => [...element.childNodes])
  .filter((node) => node.nodeType === Node.TEXT_NODE && /^[a-z]{1,10}@example.com$/.test(node.data))
  .filter((node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return range.getClientRects().length > 1;
  })
  .map((node) => 'An address is broken: ' + node.data)`;

/** Words that are broken over two lines, because the column of a table is too narrow. Addresses may be broken. */
export const BROKEN_WORDS = `[...document.querySelectorAll('main td, main th')]
  .filter((cell) => cell.checkVisibility() && cell.querySelector('code') === null)
  .flatMap((cell) => {
    const broken = [];
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let node = texts.nextNode(); node !== null; node = texts.nextNode()) {
      if (/[@/]/.test(node.data)) continue;
      for (const word of node.data.matchAll(/[a-zA-Z]{3,14}/g)) {
        const range = document.createRange();
        range.setStart(node, word.index);
        range.setEnd(node, word.index + word[0].length);
        const lines = new Set([...range.getClientRects()].map(({ top }) => top));
        if (lines.size > 1) broken.push('A word is broken: ' + word[0] + ' in ' + cell.textContent);
      }
    }
    return broken;
  })`;

/** Rows of a table that have another height while later rows haven't arrived: they would move under the reader. */
export const MOVING_ROWS = `[...document.querySelectorAll('main tbody')].flatMap((body) => {
  const rows = [...body.rows];
  const heights = rows.map((row) => row.offsetHeight);
  const moved = rows.toReversed().flatMap((last) => {
    last.remove();
    return [...body.rows].filter((row, at) => row.offsetHeight !== heights[at]);
  });
  body.append(...rows);
  return moved.slice(0, 1).map((row) => 'A later row moves ' + row.textContent);
})`;

/** Buttons of a row that the others don't share: one has wrapped into a line of its own. */
export const LONELY_BUTTONS = `[...document.querySelectorAll('main li, main header, dialog')]
  .flatMap((group) => [...group.querySelectorAll('button')].map((button) => button.parentElement))
  .filter((row, at, rows) => rows.indexOf(row) === at && getComputedStyle(row).display === 'flex')
  .flatMap((row) => {
    const tops = [...row.children].filter((child) => child.matches('button')).map((child) => child.offsetTop);
    const isAlone = tops.length > 1 && tops.some((top) => tops.filter((other) => other === top).length === 1);
    return isAlone ? ['A button has a line of its own: ' + row.textContent] : [];
  })`;

/** Dialogs whose text touches their edge. */
export const TIGHT_DIALOGS = `[...document.querySelectorAll('dialog')]
  .filter((dialog) => parseFloat(getComputedStyle(dialog).paddingLeft) < 16)
  .map((dialog) => 'No room around ' + dialog.textContent)`;

/** Returns the mistakes that these expressions find. */
export function layoutMistakes(page: Page, expressions: readonly string[]): Promise<string[]> {
  return page.evaluate(`[${expressions.join(',')}].flat()`);
}
