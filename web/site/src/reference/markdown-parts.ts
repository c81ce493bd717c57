/** Parts of a generated Markdown page. Empty parts disappear. */
export function page(...parts: readonly string[]): string {
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

export function aside(...parts: readonly string[]): string {
  const inside = parts.filter((part) => part !== '');
  return inside.length === 0 ? '' : page('<!-- aside -->', ...inside, '<!-- /aside -->').trimEnd();
}

export interface Example {
  readonly language: string;
  readonly label: string;
  readonly code: string;
}

/** One block, or tabs if there are several. */
export function examples(blocks: readonly Example[]): string {
  const fences = blocks.map(
    ({ language, label, code }) =>
      `\`\`\`${language}${label === '' ? '' : ` ${label}`}\n${code.trimEnd()}\n\`\`\``,
  );
  if (fences.length < 2) return fences.join('');
  return ['<!-- tabs -->', ...fences, '<!-- /tabs -->'].join('\n\n');
}

/** JSON with short objects and arrays on one line, as people write it. */
export function json(value: unknown, indent = ''): string {
  const short = JSON.stringify(value, null, 1).replaceAll(/\n\s*/g, ' ');
  if (typeof value !== 'object' || value === null || short.length + indent.length <= 56)
    return short;
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    return `[\n${value.map((item) => inner + json(item, inner)).join(',\n')}\n${indent}]`;
  }
  const entries = Object.entries(value).map(
    ([key, item]) => `${inner}${JSON.stringify(key)}: ${json(item, inner)}`,
  );
  return `{\n${entries.join(',\n')}\n${indent}}`;
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [row(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(row)].join('\n');
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
