import type { IncomingMessage } from 'node:http';
import { parseApiKey } from '@svc-asr/runtime/api-key.ts';
import { Refusal } from './refusal.ts';

export interface OfferedKey {
  readonly key: string;
  /** The subprotocol to accept. Never the one that carries the key. Null: none was offered. */
  readonly protocol: string | null;
}

const AUTHORIZATION = /^(?:bearer|token) +(\S+) *$/i;
/** `token, KEY` and `bearer, KEY` of Deepgram's SDKs. */
const KEY_FOLLOWS: ReadonlySet<string> = new Set(['token', 'bearer']);
/** `realtime, openai-insecure-api-key.KEY` of OpenAI's. */
const REALTIME = 'realtime';
const KEY_INSIDE = 'openai-insecure-api-key.';

const MISSING = new Refusal({
  status: 401,
  code: 'missing_api_key',
  message: 'No API key was sent. Set your svc_live_v1_ key as the API key of this program.',
});
const INVALID = new Refusal({
  status: 401,
  code: 'invalid_api_key',
  message:
    'The API key is not valid. Set your whole svc_live_v1_ key as the API key of this program.',
});

const SEVERAL = new Refusal({
  status: 401,
  code: 'invalid_api_key',
  message: 'The request has several Authorization headers. Send one, with your svc_live_v1_ key.',
});

/**
 * Takes our key from their header or subprotocols, and removes it from the request. Throws unless its checksum is right:
 * wrong keys that reach the service count against this program's address.
 */
export function takeKey(request: IncomingMessage): OfferedKey {
  const { headers } = request;
  const authorization = headers.authorization ?? '';
  const protocols = (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  delete headers.authorization;
  delete headers['sec-websocket-protocol'];
  const { rawHeaders } = request;
  const given = rawHeaders.filter((_, at) => rawHeaders[at - 1]?.toLowerCase() === 'authorization');
  // The raw headers hold the key too.
  request.rawHeaders.length = 0;
  const fromProtocols = keyInProtocols(protocols);
  const key = AUTHORIZATION.exec(authorization)?.[1] ?? fromProtocols?.key;
  const protocol = fromProtocols?.protocol ?? (protocols.includes(REALTIME) ? REALTIME : null);
  // `ws` answers with the first one that it finds here.
  if (protocol !== null) headers['sec-websocket-protocol'] = protocol;
  // Node reads the first of them. A proxy may have checked another one.
  if (given.length > 1) throw SEVERAL;
  if (key === undefined) throw MISSING;
  if (parseApiKey(key) === null) throw INVALID;
  return { key, protocol };
}

/** Removes the key from the request now. The returned function gives it, or throws. */
export function hideKey(request: IncomingMessage): () => string {
  try {
    const { key } = takeKey(request);
    return () => key;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

function keyInProtocols(protocols: readonly string[]): OfferedKey | null {
  const inside = protocols.find((name) => name.startsWith(KEY_INSIDE));
  if (inside !== undefined) {
    const protocol = protocols.includes(REALTIME) ? REALTIME : null;
    return { key: inside.slice(KEY_INSIDE.length), protocol };
  }
  const at = protocols.findIndex((name) => KEY_FOLLOWS.has(name));
  const key = at === -1 ? undefined : protocols[at + 1];
  return key === undefined ? null : { key, protocol: protocols[at] ?? null };
}
