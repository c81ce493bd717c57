import { IDEMPOTENCY_KEY_PATTERN } from './constants.ts';

const KEY = new RegExp(IDEMPOTENCY_KEY_PATTERN);
const RANDOM_LENGTH = 16;
const TOKEN =
  /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})_([A-Za-z0-9_-]{16})$/;

/** A session whose connection was lost. */
export interface LostSession {
  readonly id: string;
  /** The end of its credential. Only the client that opened the session and the service have it. */
  readonly proof: string;
}

/** What a client needs of its session. */
interface OpenedSession {
  readonly id: string;
  readonly websocket_url: string;
  readonly websocket_protocols: readonly [string, string];
}

/** Returns the end of a credential, which is spent by then. The rest of it stays secret. */
export function proofOf(credential: string): string {
  return credential.slice(-16);
}

/** Names a lost session and proves that it was the caller's own. */
export function lostToken({ id, websocket_protocols: [, credential] }: OpenedSession): string {
  return `${id.replaceAll('-', '')}_${proofOf(credential)}`;
}

/** Returns null for a text that `lostToken` didn't make. */
export function readLostToken(token: string): LostSession | null {
  const [, a, b, c, d, e, proof] = TOKEN.exec(token) ?? [];
  return proof === undefined ? null : { id: [a, b, c, d, e].join('-'), proof };
}

/**
 * Returns an idempotency key that also says which session its caller lost, on which node, as `lost.RANDOM_TOKEN.HOST`.
 * Applications pass the key on unchanged, so the service learns of a lost node seconds before its lease ends.
 */
export function lostKey(random: string, session: OpenedSession): string {
  const [, host = ''] = /^wss?:\/\/([^/]+)/.exec(session.websocket_url) ?? [];
  const key = `lost.${random.slice(0, RANDOM_LENGTH)}_${lostToken(session)}.${host}`;
  return host !== '' && KEY.test(key) ? key : random;
}

/** Returns what a key of `lostKey` says. Keys of earlier clients name no session. */
export function readLostKey(
  key: string | null,
): { readonly host: string; readonly session: LostSession | null } | null {
  const [, name = '', host] = /^lost\.([A-Za-z0-9_-]+)\.(.+)$/.exec(key ?? '') ?? [];
  return host === undefined
    ? null
    : { host, session: readLostToken(name.slice(RANDOM_LENGTH + 1)) };
}
