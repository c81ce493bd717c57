import { ApiError } from '../errors.ts';

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const JSON_MEDIA_TYPE = /^application\/json[ \t]*(?:;[ \t]*(?:charset="?utf-8"?)?[ \t]*)*$/i;

export function isJsonMediaType(contentType: string | undefined): boolean {
  return contentType !== undefined && JSON_MEDIA_TYPE.test(contentType);
}

/** Stricter than JSON.parse: bytes must be UTF-8, and a name may stand once in an object. */
export function parseJsonBody(bytes: Buffer): unknown {
  try {
    const text = UTF8.decode(bytes);
    const value: unknown = JSON.parse(text);
    refuseDuplicateNames(text);
    return value;
  } catch (error) {
    throw new ApiError('invalid_json', { cause: error });
  }
}

/**
 * JSON.parse silently keeps the last of two equal names, so two readers of one body could see two requests.
 * The text is valid JSON by now: a string before a colon is a name, and strings hide every other sign.
 */
function refuseDuplicateNames(text: string): void {
  const open: Set<string>[] = [];
  const token = /"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?|[{}]/g;
  for (const [sign, colon] of text.matchAll(token)) {
    if (sign === '{') open.push(new Set());
    else if (sign === '}') open.pop();
    else if (colon !== undefined) {
      const names = open.at(-1);
      const name = String(JSON.parse(sign.slice(0, -colon.length)));
      if (names === undefined || names.has(name)) throw new SyntaxError('A name stands twice.');
      names.add(name);
    }
  }
}
