import type { IncomingHttpHeaders } from 'node:http';

/** Where a stream came from, as its own headers say. */
export interface ClientDescription {
  readonly origin: string | null;
  readonly client: string | null;
}

const ORIGIN = /^[!-~]{1,200}$/;
const PRODUCT = /^([A-Za-z][\w.-]{0,30})(?:\/v?(\d[\w.-]{0,15}))?/;
/** Most specific first: Edge and Opera also call themselves Chrome, and Chrome calls itself Safari. */
const BROWSERS = [
  ['Edge', /\bEdg(?:A|iOS)?\/(\d{1,4})/],
  ['Opera', /\bOPR\/(\d{1,4})/],
  ['Firefox', /\b(?:Firefox|FxiOS)\/(\d{1,4})/],
  ['Chrome', /\b(?:HeadlessChrome|Chrome|CriOS)\/(\d{1,4})/],
  ['Safari', /\bVersion\/(\d{1,4})[\d.]* .*Safari\//],
] as const;

/**
 * Returns the origin and a short name of the client. The User-Agent itself is not kept: a browser becomes its name and
 * major version, any other client its first product and version.
 */
export function describeClient(headers: IncomingHttpHeaders): ClientDescription {
  const { origin, 'user-agent': agent } = headers;
  return {
    origin: origin !== undefined && ORIGIN.test(origin) ? origin : null,
    client: agent === undefined ? null : clientName(agent.slice(0, 500)),
  };
}

function clientName(agent: string): string | null {
  for (const [name, pattern] of BROWSERS) {
    const version = pattern.exec(agent)?.[1];
    if (version !== undefined) return `${name} ${version}`;
  }
  const [, name, version] = PRODUCT.exec(agent) ?? [];
  if (name === undefined || name === 'Mozilla') return null;
  return version === undefined ? name : `${name} ${version}`;
}
