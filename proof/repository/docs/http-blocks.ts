import { STATUS_CODES } from 'node:http';
import { openApiDocument } from '@svc-asr/protocol/documents/openapi.ts';

const PATHS: Readonly<Record<string, Readonly<Record<string, Operation>>>> =
  openApiDocument().paths;

interface Operation {
  readonly responses: Readonly<Record<string, unknown>>;
}

/** Headers of the WebSocket handshake itself, which OpenAPI doesn't describe (RFC 6455, section 4). */
const HANDSHAKE = {
  request: ['host', 'connection', 'upgrade', 'sec-websocket-version', 'sec-websocket-key'],
  response: ['connection', 'upgrade', 'sec-websocket-accept'],
};

/** Returns what the OpenAPI document doesn't allow in a request or response, as it looks on the wire. */
export function httpProblems(code: string): string[] {
  const [start = '', ...lines] = code.trimEnd().split('\n');
  const malformed = lines.filter((line) => !/^[A-Za-z-]+: \S.*$/.test(line));
  if (malformed.length > 0) return malformed.map((line) => `not a header: ${line}`);
  const names = new Set(lines.map((line) => line.slice(0, line.indexOf(':')).toLowerCase()));
  const [, method, path = ''] = /^([A-Z]+) (\/\S*) HTTP\/1\.1$/.exec(start) ?? [];
  if (method !== undefined) return requestProblems({ method, path, names });
  const [, status, phrase] = /^HTTP\/1\.1 (\d{3}) (.+)$/.exec(start) ?? [];
  if (status === undefined) return [`neither a request nor a response: ${start}`];
  if (STATUS_CODES[status] !== phrase) return [`${status} is ${STATUS_CODES[status]}`];
  const operations = Object.values(PATHS).flatMap((methods) => Object.values(methods));
  if (!operations.some(({ responses }) => status in responses))
    return [`nothing answers ${status}`];
  return status === '101' ? missing(HANDSHAKE.response, names) : [];
}

function requestProblems(request: {
  method: string;
  path: string;
  names: ReadonlySet<string>;
}): string[] {
  const { method, path, names } = request;
  const operation = PATHS[path]?.[method.toLowerCase()];
  if (operation === undefined) return [`there is no ${method} ${path}`];
  return '101' in operation.responses ? missing(HANDSHAKE.request, names) : [];
}

/** The subprotocol is in the OpenAPI document, as the credential of the call and as a header of its 101. */
function missing(handshake: readonly string[], names: ReadonlySet<string>): string[] {
  return [...handshake, 'sec-websocket-protocol']
    .filter((name) => !names.has(name))
    .map((name) => `${name} is missing`);
}
