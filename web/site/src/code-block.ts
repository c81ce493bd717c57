import { escapeHtml } from './html.ts';
import type { Highlight } from './highlight.ts';

/** What follows the opening fence: the language, then the label of its tab. */
export interface Fence {
  readonly language: string;
  readonly label: string;
  readonly code: string;
}

const NAMES: Readonly<Record<string, string>> = {
  sh: 'Shell',
  ts: 'TypeScript',
  tsx: 'TypeScript',
  js: 'JavaScript',
  python: 'Python',
  json: 'JSON',
  yaml: 'YAML',
  html: 'HTML',
  xml: 'XML',
  sql: 'SQL',
  http: 'HTTP',
};

export function parseFence(info: string, code: string): Fence {
  const [language = '', ...label] = info.trim().split(/\s+/);
  return { language, label: label.join(' '), code: code.replace(/\n$/, '') };
}

/** A block of code with a copy button, or output and diagrams without. The button works only with JavaScript, which removes `hidden`. */
export function renderCode(fence: Fence, highlight: Highlight): string {
  const name = fence.label || (NAMES[fence.language] ?? '');
  return `<figure class="code-block">${name === '' ? '' : `<figcaption>${escapeHtml(name)}</figcaption>`}${renderPre(fence, highlight, name)}</figure>`;
}

function renderPre(fence: Fence, highlight: Highlight, name: string): string {
  const label = name === '' ? 'Example' : name;
  const copy =
    name === ''
      ? ''
      : '<button type="button" class="copy" data-copy hidden aria-label="Copy">Copy</button>';
  return `${copy}<pre tabindex="0" role="group" aria-label="${escapeHtml(label)}"><code>${highlight(fence.code, fence.language)}</code></pre>`;
}

/** Consecutive blocks as tabs. Without JavaScript every block shows, one below the other. */
export function renderTabs(
  fences: readonly Fence[],
  { id, highlight }: { id: string; highlight: Highlight },
): string {
  const labels = fences.map(({ label, language }) => label || (NAMES[language] ?? language));
  const buttons = labels.map(
    (label, at) =>
      `<button type="button" role="tab" id="${id}-tab-${at}" aria-controls="${id}-${at}" aria-selected="${at === 0}" tabindex="${at === 0 ? 0 : -1}">${escapeHtml(label)}</button>`,
  );
  const panels = fences.map(
    (fence, at) =>
      `<div role="tabpanel" id="${id}-${at}" aria-labelledby="${id}-tab-${at}"${at === 0 ? '' : ' data-inactive'}>${renderPre(fence, highlight, labels[at] ?? '')}</div>`,
  );
  return `<div class="code-block tabs" data-tabs><div role="tablist" aria-label="Language">${buttons.join('')}</div>${panels.join('')}</div>`;
}
