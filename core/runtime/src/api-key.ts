import { crc32 } from 'node:zlib';
import { API_KEY_PREFIX } from '@svc-asr/protocol/constants.ts';

/**
 * The form of an API key: `svc_live_v1_` + public id (12) + secret (32, 190 bits) + checksum (6), all base62. The
 * checksum lets a process refuse a mistyped or made-up key without asking anyone, and lets scanners recognise a leaked
 * key. For Node only, so `index.ts` doesn't export it.
 */
export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
export const API_KEY_ID_LENGTH = 12;
export const API_KEY_SECRET_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const KEY = new RegExp(
  `^${API_KEY_PREFIX}([0-9A-Za-z]{${API_KEY_ID_LENGTH}})[0-9A-Za-z]{${API_KEY_SECRET_LENGTH + CHECKSUM_LENGTH}}$`,
);

export function assembleApiKey(publicId: string, secret: string): string {
  const body = API_KEY_PREFIX + publicId + secret;
  return body + checksum(body);
}

/** The public id of a well-formed key, else null. */
export function parseApiKey(key: string): string | null {
  const publicId = KEY.exec(key)?.[1];
  if (publicId === undefined) return null;
  const body = key.slice(0, -CHECKSUM_LENGTH);
  return checksum(body) === key.slice(-CHECKSUM_LENGTH) ? publicId : null;
}

function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let digit = 0; digit < CHECKSUM_LENGTH; digit += 1) {
    text = BASE62.charAt(rest % BASE62.length) + text;
    rest = Math.floor(rest / BASE62.length);
  }
  return text;
}
