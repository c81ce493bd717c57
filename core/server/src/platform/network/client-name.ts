const PRODUCT = /^([A-Za-z][\w.-]{0,30})(?:\/v?(\d[\w.-]{0,15}))?/;
/** Most specific first: Edge and Opera also call themselves Chrome, and Chrome calls itself Safari. */
const BROWSERS = [
  ['Edge', /\bEdg(?:A|iOS)?\/(\d{1,4})/],
  ['Opera', /\bOPR\/(\d{1,4})/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d{1,4})/],
  ['Chrome', /\b(?:HeadlessChrome|Chrome|CriOS)\/(\d{1,4})/],
  ['Safari', /\bVersion\/(\d{1,4})/],
] as const;
/** Most specific first: Android also calls itself Linux, and an iPhone names Mac OS X. */
const SYSTEMS = [
  ['Android', /\bAndroid\b/],
  ['iPhone', /\biPhone\b/],
  ['iPad', /\biPad\b/],
  ['ChromeOS', /\bCrOS\b/],
  ['Windows', /\bWindows\b/],
  ['macOS', /\bMac OS X\b/],
  ['Linux', /\bLinux\b/],
] as const;
const AGENT_CHARACTERS = 500;

/**
 * Returns a short name for a User-Agent, which itself is never kept: a browser becomes its name and major version, any
 * other client its first product and version.
 */
export function clientName(agent: string | undefined): string | null {
  const start = (agent ?? '').slice(0, AGENT_CHARACTERS);
  for (const [name, pattern] of BROWSERS) {
    if (name === 'Safari' && !start.includes('Safari/')) continue;
    const version = pattern.exec(start)?.[1];
    if (version !== undefined) return `${name} ${version}`;
  }
  const [, name, version] = PRODUCT.exec(start) ?? [];
  if (name === undefined || name === 'Mozilla') return null;
  return version === undefined ? name : `${name} ${version}`;
}

/** Returns the operating system that a User-Agent names, from a closed list. */
export function systemName(agent: string | undefined): string | null {
  const start = (agent ?? '').slice(0, AGENT_CHARACTERS);
  return SYSTEMS.find(([, pattern]) => pattern.test(start))?.[0] ?? null;
}
