import type { MarkdownIt, Token } from 'markdown-it';
import { escapeHtml, textOf } from './html.ts';

/** Tables with this many columns are shown as one box per row on phones. */
const STACKED_COLUMNS = 3;

/** Renders tables in a box that scrolls. The cells of wide ones carry their column's name for phones. */
export function renderTables(tokens: readonly Token[], md: MarkdownIt): void {
  labelCells(tokens, md);
  const { rules } = md.renderer;
  rules['table_open'] = (all, at) => {
    const [box, table] = isStacked(all[at]) ? [' table-stacked', ' role="table"'] : ['', ''];
    return `<div class="table${box}" tabindex="0" role="group" aria-label="Table"><table${table}>`;
  };
  rules['table_close'] = () => '</table></div>';
  for (const [tag, role] of PARTS) {
    rules[`${tag}_open`] = (all, at) => `<${tag}${attributes(all[at], role)}>`;
    rules[`${tag}_close`] = () => `</${tag}>`;
  }
  // A header without text is no header.
  rules['th_open'] = (all, at) =>
    isEmpty(all[at]) ? '<td>' : `<th scope="col"${attributes(all[at], 'columnheader')}>`;
  rules['th_close'] = (all, at) => (isEmpty(all[at]) ? '</td>' : '</th>');
  // One element for the whole content, so that it forms one column beside the name.
  rules['td_open'] = (all, at) =>
    `<td${attributes(all[at], 'cell')}>${isStacked(all[at]) ? '<div>' : ''}`;
  rules['td_close'] = (all, at) => `${isStacked(all[at]) ? '</div>' : ''}</td>`;
}

/** Boxes would lose the roles that these elements have in a table, so stacked tables state them. */
const PARTS = [
  ['thead', 'rowgroup'],
  ['tbody', 'rowgroup'],
  ['tr', 'row'],
] as const;

/** Alignment becomes a class, because the default renderer writes a style attribute. */
function attributes(token: Token | undefined, role: string): string {
  const align = /text-align:(\w+)/.exec(String(token?.attrGet('style') ?? ''))?.[1];
  const label = token?.attrGet('data-label');
  const id = token?.attrGet('id');
  return [
    typeof id === 'string' ? ` id="${escapeHtml(id)}"` : '',
    align === undefined ? '' : ` class="align-${align}"`,
    isStacked(token) ? ` role="${role}"` : '',
    typeof label === 'string' ? ` data-label="${escapeHtml(label)}"` : '',
  ].join('');
}

function isEmpty(token: Token | undefined): boolean {
  return token?.attrGet('empty') === '';
}

function isStacked(token: Token | undefined): boolean {
  return token?.attrGet('class') === 'stacked';
}

function labelCells(tokens: readonly Token[], md: MarkdownIt): void {
  let labels: string[] = [];
  let table: Token[] = [];
  let column = 0;
  let row: Token | undefined;
  for (const [at, token] of tokens.entries()) {
    if (token.type === 'table_open') [labels, table] = [[], []];
    if (/^(table|thead|tbody|tr|th|td)_(open|close)$/.test(token.type)) table.push(token);
    if (token.type === 'tr_open') [column, row] = [0, token];
    if (token.type === 'th_open') {
      const label = textAt(tokens[at + 1], md);
      labels.push(label);
      // The opening and the closing tag.
      if (label === '') for (const part of [token, tokens[at + 2]]) part?.attrSet('empty', '');
    }
    if (token.type === 'td_open') {
      const label = labels[column] ?? '';
      token.attrSet('data-label', label);
      const prefix = label === 'code' ? errorPrefix(labels) : null;
      if (prefix !== null) row?.attrSet('id', `${prefix}${textAt(tokens[at + 1], md)}`);
      column += 1;
    }
    if (token.type !== 'table_close') continue;
    for (const part of table) {
      if (labels.length >= STACKED_COLUMNS) part.attrSet('class', 'stacked');
      else if (part.type === 'td_open')
        part.attrs = (part.attrs ?? []).filter(([name]) => name !== 'data-label');
    }
  }
}

/** The two tables of all errors, whose rows other pages link to. A code can be in both. Null: another table. */
function errorPrefix(labels: readonly string[]): string | null {
  if (labels.includes('next step')) return 'stream-';
  return labels.includes('endpoint') ? '' : null;
}

function textAt(inline: Token | undefined, md: MarkdownIt): string {
  return textOf(md.renderer.render(inline?.children ?? [], md.options, {}));
}
