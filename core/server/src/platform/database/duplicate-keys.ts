/**
 * JSON.parse silently keeps the last of two equal keys, so two parsers could read one text differently. The
 * text is already known to be valid JSON, so the last string before a colon is a key.
 */
export function hasDuplicateKey(text: string): boolean {
  const open: Set<string>[] = [];
  let string = '';
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at];
    if (sign === '"') {
      const end = endOfString(text, at);
      string = text.slice(at, end);
      at = end - 1;
    } else if (sign === '{') open.push(new Set());
    else if (sign === '}') open.pop();
    else if (sign === ':') {
      const keys = open.at(-1);
      const key = String(JSON.parse(string));
      if (keys === undefined || keys.has(key)) return true;
      keys.add(key);
    }
  }
  return false;
}

/** The position after the closing quote. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length && text[at] !== '"'; at += 1) if (text[at] === '\\') at += 1;
  return at + 1;
}
