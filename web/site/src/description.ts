/** Returns the first paragraph of a Markdown page as plain text, cut at a word after about 200 characters. */
export function describe(markdown: string): string {
  const blocks = markdown
    .replaceAll(/^(`{3,}).*?^\1/gms, '')
    .replaceAll(/<!--[\s\S]*?-->/g, '')
    .split(/\n\s*\n/);
  const paragraph =
    blocks.find((block) => /^[^#|>!<\-*\d\s]/.test(block.trim())) ??
    blocks.find((block) => /^[-*\d]/.test(block.trim())) ??
    '';
  return shorten(plain(paragraph), 200);
}

/** Removes Markdown's own characters. */
export function plain(markdown: string): string {
  return markdown
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  const cut = text.slice(0, length);
  return `${cut.slice(0, cut.lastIndexOf(' ')).replace(/[,.;:]$/, '')}…`;
}
