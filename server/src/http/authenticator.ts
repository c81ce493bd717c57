import { createSecretKey, timingSafeEqual } from 'node:crypto';
import { MODEL_IDS, type ModelId } from '@svc-asr/protocol';
import { findApiKey, touchApiKeys, type ApiKeyLookup } from '../accounts/api-keys.ts';
import { hashApiKey, parseApiKey } from '../api-key-format.ts';
import type { Clock } from '../clock.ts';
import type { Queryable } from '../db.ts';
import { ApiError } from '../errors.ts';
import type { Log } from '../log.ts';

/** Whose request this is and what its key may do. */
export interface Caller {
  readonly accountId: string;
  readonly keyId: string;
  readonly models: ReadonlySet<ModelId>;
}

export interface Authenticator {
  /** Throws the ApiError that the caller is to see. */
  authenticate(authorization: string | undefined): Promise<Caller>;
  /** Writes what is left to write about keys used. */
  close(): Promise<void>;
}

const EVERY_MODEL: ReadonlySet<ModelId> = new Set(MODEL_IDS);

/** A revocation must reach every process within 5 s; the rest is for a slow answer of the database. */
const CACHE_MS = 3_000;
const CACHE_KEYS_MAX = 10_000;
const KEYS_USED_EVERY_MS = 15_000;
const BEARER = /^Bearer +(\S+) *$/i;

interface CachedKey {
  readonly freshUntilMs: number;
  readonly record: Promise<ApiKeyLookup | null>;
}

export function createAuthenticator(input: {
  db: Queryable;
  pepper: Buffer;
  clock: Clock;
  log: Log;
}): Authenticator {
  const { db, clock, log } = input;
  // Prepared once: an HMAC with a plain buffer costs five times as much.
  const pepper = createSecretKey(input.pepper);
  const cache = new Map<string, CachedKey>();
  const used = new Set<string>();
  // What an unknown id is compared with, so that it costs the same as a known one.
  const nobody = hashApiKey('nobody', pepper);

  function find(publicId: string): Promise<ApiKeyLookup | null> {
    const now = clock.monotonicMs();
    const cached = cache.get(publicId);
    if (cached !== undefined && cached.freshUntilMs > now) return cached.record;
    const record = findApiKey(db, publicId);
    cache.delete(publicId);
    cache.set(publicId, { freshUntilMs: now + CACHE_MS, record });
    record.then(
      (found) => found === null && forget(publicId, record),
      () => forget(publicId, record),
    );
    if (cache.size > CACHE_KEYS_MAX) cache.delete(cache.keys().next().value ?? '');
    return record;
  }
  /** Failures and unknown ids are not remembered: the next request asks again. */
  function forget(publicId: string, record: Promise<ApiKeyLookup | null>): void {
    if (cache.get(publicId)?.record === record) cache.delete(publicId);
  }
  async function writeKeysUsed(): Promise<void> {
    if (used.size === 0) return;
    const keyIds = [...used];
    used.clear();
    await touchApiKeys(db, keyIds).catch((error: unknown) =>
      log.warn({ err: error }, 'Could not record when keys were last used.'),
    );
  }
  const timer = setInterval(() => void writeKeysUsed(), KEYS_USED_EVERY_MS).unref();

  return {
    async authenticate(authorization) {
      const key = BEARER.exec(authorization ?? '')?.[1];
      if (key === undefined) throw new ApiError('missing_api_key');
      const publicId = parseApiKey(key);
      if (publicId === null) throw new ApiError('invalid_api_key');
      const record = await find(publicId);
      const matches = timingSafeEqual(hashApiKey(key, pepper), record?.hmac ?? nobody);
      if (record === null || !matches) throw new ApiError('invalid_api_key');
      if (record.revoked) throw new ApiError('revoked_api_key');
      if (record.expired) throw new ApiError('expired_api_key');
      if (!record.accountActive) throw new ApiError('account_inactive');
      used.add(record.id);
      return { accountId: record.accountId, keyId: record.id, models: modelsOf(record) };
    },
    async close() {
      clearInterval(timer);
      await writeKeysUsed();
    },
  };
}

function modelsOf(record: ApiKeyLookup): ReadonlySet<ModelId> {
  return record.scopes === null ? EVERY_MODEL : new Set(record.scopes);
}
