import { createHmac, randomInt, type KeyObject } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { API_KEY_PREFIX } from '@svc-asr/protocol/constants.ts';

/**
 * `svc_live_v1_` + public id (12) + secret (32, 190 bits) + checksum (6), all base62. The checksum lets
 * the server refuse a mistyped or made-up key without a database query, and lets scanners recognise a
 * leaked key.
 */
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ID_LENGTH = 12;
const SECRET_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const KEY = new RegExp(
  `^${API_KEY_PREFIX}([0-9A-Za-z]{${ID_LENGTH}})[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`,
);

export interface NewApiKey {
  /** Shown once, never stored. */
  readonly key: string;
  readonly publicId: string;
}

/** The public id begins with the cell that makes the key, so that an edge can route it without a lookup. */
export function generateApiKey(cell: string | null = null): NewApiKey {
  const prefix = cell ?? '';
  const publicId = prefix + randomBase62(ID_LENGTH - prefix.length);
  return { key: assembleApiKey(publicId, randomBase62(SECRET_LENGTH)), publicId };
}

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

/** A fast hash is enough for 190 random bits. A slow one would make denial of service easier. */
export function hashApiKey(key: string, pepper: Buffer | KeyObject): Buffer {
  return createHmac('sha256', pepper).update(key).digest();
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

function randomBase62(length: number): string {
  let text = '';
  for (let index = 0; index < length; index += 1) text += BASE62.charAt(randomInt(BASE62.length));
  return text;
}
