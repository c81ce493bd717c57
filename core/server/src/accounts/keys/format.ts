import { createHmac, randomInt, type KeyObject } from 'node:crypto';
import {
  API_KEY_ID_LENGTH,
  API_KEY_SECRET_LENGTH,
  assembleApiKey,
  BASE62,
} from '@svc-asr/runtime/api-key.ts';

export interface NewApiKey {
  /** Shown once, never stored. */
  readonly key: string;
  readonly publicId: string;
}

/** The public id begins with the cell that makes the key, so that an edge can route it without a lookup. */
export function generateApiKey(cell: string | null = null): NewApiKey {
  const prefix = cell ?? '';
  const publicId = prefix + randomBase62(API_KEY_ID_LENGTH - prefix.length);
  return { key: assembleApiKey(publicId, randomBase62(API_KEY_SECRET_LENGTH)), publicId };
}

/** A fast hash is enough for 190 random bits. A slow one would make denial of service easier. */
export function hashApiKey(key: string, pepper: Buffer | KeyObject): Buffer {
  return createHmac('sha256', pepper).update(key).digest();
}

function randomBase62(length: number): string {
  let text = '';
  for (let index = 0; index < length; index += 1) text += BASE62.charAt(randomInt(BASE62.length));
  return text;
}
