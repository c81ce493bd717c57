import { IDEMPOTENCY_KEY_PATTERN } from './constants.ts';

const PREFIX = 'lost.';
const KEY = new RegExp(IDEMPOTENCY_KEY_PATTERN);

/**
 * Returns an idempotency key that also says which node does not answer, as `lost.RANDOM.HOST`. Applications pass the key on
 * unchanged, so the service learns of a lost node seconds before its lease ends.
 */
export function lostKey(random: string, websocketUrl: string): string {
  const [, host = ''] = /^wss?:\/\/([^/]+)/.exec(websocketUrl) ?? [];
  const key = `${PREFIX}${random}.${host}`;
  return host !== '' && KEY.test(key) ? key : random;
}

/** Returns the host of a key that `lostKey` made. */
export function lostHost(key: string | null): string | null {
  return /^lost\.[A-Za-z0-9_-]+\.(.+)$/.exec(key ?? '')?.[1] ?? null;
}
