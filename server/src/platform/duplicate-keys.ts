/**
 * JSON.parse silently keeps the last of two equal keys, so two parsers could read one text differently. The
 * text is already known to be valid JSON, so a string before a colon is a key.
 */
export function hasDuplicateKey(text: string): boolean {
  const open: Set<string>[] = [];
  const token = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}]/g;
  for (const [sign, colon] of text.matchAll(token)) {
    if (sign === '{') open.push(new Set());
    else if (sign === '}') open.pop();
    else if (colon !== undefined) {
      const keys = open.at(-1);
      const key = String(JSON.parse(sign.slice(0, -colon.length)));
      if (keys === undefined || keys.has(key)) return true;
      keys.add(key);
    }
  }
  return false;
}
