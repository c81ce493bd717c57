import { createSecretKey, timingSafeEqual } from 'node:crypto';
import { MODEL_IDS, type ModelId } from '@svc-asr/protocol';
import { findApiKey, touchApiKeys, type ApiKeyLookup } from '../accounts/api-keys.ts';
import { hashApiKey, parseApiKey } from '../api-key-format.ts';
import type { Clock } from '../clock.ts';
import type { Queryable } from '../db.ts';
import { withinDeadline } from '../deadline.ts';
import { ApiError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { KeyNews } from './key-news.ts';

/** Whose request this is and what its key may do. */
export interface Caller {
  readonly accountId: string;
  readonly keyId: string;
  readonly models: ReadonlySet<ModelId>;
}

export interface Authenticator {
  /** Throws the ApiError that the caller is to see. A key that is remembered is answered for at once. */
  authenticate(authorization: string | undefined): Caller | Promise<Caller>;
  /** Writes what is left to write about keys used. */
  close(): Promise<void>;
}

const EVERY_MODEL: ReadonlySet<ModelId> = new Set(MODEL_IDS);

/** A revocation must reach every process within 5 s; the rest is for a slow answer of the database. */
const UNWATCHED_MS = 3_000;
/** While every change of a key is heard of, only the length of a memory needs a limit. */
const WATCHED_MS = 60_000;
const CACHE_KEYS_MAX = 10_000;
const KEYS_USED_EVERY_MS = 15_000;
const BEARER = /^Bearer +(\S+) *$/i;

interface CachedKey {
  readonly askedAtMs: number;
  /** By then a live key may have expired: the database is asked again. */
  expiresAtMs: number;
  /** A promise until the database has answered. */
  record: ApiKeyLookup | Promise<ApiKeyLookup | null>;
}

export function createAuthenticator(input: {
  db: Queryable;
  pepper: Buffer;
  clock: Clock;
  log: Log;
  news: KeyNews;
}): Authenticator {
  const { db, clock, log, news } = input;
  // Prepared once: an HMAC with a plain buffer costs five times as much.
  const pepper = createSecretKey(input.pepper);
  const cache = new Map<string, CachedKey>();
  const used = new Set<string>();
  // What an unknown id is compared with, so that it costs the same as a known one.
  const nobody = hashApiKey('nobody', pepper);

  function find(publicId: string): ApiKeyLookup | Promise<ApiKeyLookup | null> {
    const now = clock.monotonicMs();
    const cached = cache.get(publicId);
    if (cached !== undefined && isFresh(cached, now)) return cached.record;
    const record = withinDeadline(findApiKey(db, publicId));
    const entry: CachedKey = { askedAtMs: now, expiresAtMs: Infinity, record };
    cache.delete(publicId);
    // Remembered from the moment of asking: news that comes before the answer then finds what it is about.
    cache.set(publicId, entry);
    record.then(
      (found) => (found === null ? forget(publicId, entry) : remember(entry, found)),
      () => forget(publicId, entry),
    );
    if (cache.size > CACHE_KEYS_MAX) cache.delete(cache.keys().next().value ?? '');
    return record;
  }
  function isFresh({ askedAtMs, expiresAtMs }: CachedKey, now: number): boolean {
    const lastsMs = news.hasHeardAllSince(askedAtMs) ? WATCHED_MS : UNWATCHED_MS;
    return now < Math.min(askedAtMs + lastsMs, expiresAtMs);
  }
  /** Failures and unknown ids are not remembered: the next request asks again. */
  function forget(publicId: string, entry: CachedKey): void {
    if (cache.get(publicId) === entry) cache.delete(publicId);
  }
  function admit(key: string, record: ApiKeyLookup | null): Caller {
    const matches = timingSafeEqual(hashApiKey(key, pepper), record?.hmac ?? nobody);
    if (record === null || !matches) throw new ApiError('invalid_api_key');
    if (record.revoked) throw new ApiError('revoked_api_key');
    if (record.expired) throw new ApiError('expired_api_key');
    if (!record.accountActive) throw new ApiError('account_inactive');
    used.add(record.id);
    return { accountId: record.accountId, keyId: record.id, models: modelsOf(record) };
  }
  news.onChange = (publicId) => cache.delete(publicId);
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
    authenticate(authorization) {
      const key = BEARER.exec(authorization ?? '')?.[1];
      if (key === undefined) throw new ApiError('missing_api_key');
      const publicId = parseApiKey(key);
      if (publicId === null) throw new ApiError('invalid_api_key');
      const record = find(publicId);
      return record instanceof Promise
        ? record.then((found) => admit(key, found))
        : admit(key, record);
    },
    async close() {
      clearInterval(timer);
      await writeKeysUsed();
    },
  };
}

/** A live key until it expires; one that has expired stays so. */
function remember(entry: CachedKey, found: ApiKeyLookup): void {
  entry.record = found;
  if (found.expired || found.expiresInMs === null) return;
  entry.expiresAtMs = entry.askedAtMs + found.expiresInMs;
}

function modelsOf(record: ApiKeyLookup): ReadonlySet<ModelId> {
  return record.scopes === null ? EVERY_MODEL : new Set(record.scopes);
}
