export type ParsedOrigins = { origins: string[] } | { invalid: string };

/** Parses one origin per line. A trailing slash is allowed, a path is not. */
export function parseOrigins(text: string): ParsedOrigins {
  const origins = new Set<string>();
  for (const line of text.split(/\s+/).filter((part) => part !== '')) {
    const url = URL.canParse(line) ? new URL(line) : null;
    const plain = url !== null && url.pathname === '/' && url.search === '' && url.hash === '';
    if (!plain || !/^https?:$/.test(url.protocol) || url.username !== '') return { invalid: line };
    origins.add(url.origin);
  }
  return { origins: [...origins] };
}
