import { createSecretKey, timingSafeEqual } from 'node:crypto';
import { MODEL_IDS, type ModelId } from '@svc-asr/protocol';
import { parseApiKey } from '@svc-asr/runtime/api-key.ts';
import { findApiKey, rehashApiKey, touchApiKeys, type ApiKeyLookup } from './api-keys.ts';
import { hashApiKey } from './format.ts';
import type { Peppers } from './peppers.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Queryable } from '../../platform/database/db.ts';
import { withinDeadline } from '../../platform/deadline.ts';
import { ApiError } from '../../platform/api-error.ts';
import type { Log } from '../../platform/observe/log.ts';
import { sleep } from '../../platform/sleep.ts';
import { startPeriodic } from '../../platform/periodic.ts';
import type { ApiKeyInvalidation } from './invalidation.ts';

/** The account behind a request and the scopes of its key. */
export interface Caller {
  readonly accountId: string;
  readonly keyId: string;
  readonly models: ReadonlySet<ModelId>;
}

export interface Authenticator {
  /** Throws the ApiError for the caller. Returns synchronously if the key is cached. */
  authenticate(authorization: string | undefined): Caller | Promise<Caller>;
  /** Writes the remaining last-used times. */
  close(): Promise<void>;
}

const EVERY_MODEL: ReadonlySet<ModelId> = new Set(MODEL_IDS);

/** Cache TTL while invalidations don't arrive. A revocation must reach every process within 5 s. */
const UNWATCHED_TTL_MS = 3_000;
/** Cache TTL while invalidations arrive. */
const WATCHED_TTL_MS = 60_000;
const CACHE_KEYS_MAX = 10_000;
const KEYS_USED_EVERY_MS = 15_000;
/**
 * Wrong keys are refused after this delay. It is longer than a lookup, so the timing doesn't reveal
 * which key ids exist.
 */
const REFUSE_AFTER_MS = 20;
const BEARER = /^Bearer +(\S+) *$/i;

interface CachedKey {
  readonly askedAtMs: number;
  /** When the key itself expires. The database decides again after that. */
  expiresAtMs: number;
  /** A promise until the database has answered. */
  record: ApiKeyLookup | Promise<ApiKeyLookup | null>;
}

export function createAuthenticator(input: {
  db: Queryable;
  peppers: Peppers;
  clock: Clock;
  log: Log;
  invalidation: ApiKeyInvalidation;
}): Authenticator {
  const { db, clock, log, invalidation } = input;
  // Prepared once: an HMAC with a plain buffer costs five times as much.
  const peppers = new Map(input.peppers.map(({ id, secret }) => [id, createSecretKey(secret)]));
  const current = { id: input.peppers[0].id, secret: createSecretKey(input.peppers[0].secret) };
  const cache = new Map<string, CachedKey>();
  const used = new Set<string>();
  const rehashing = new Set<string>();
  // Unknown ids are compared with this, so that they take as long as known ones.
  const noMatch = hashApiKey('no such key', current.secret);

  function find(publicId: string): ApiKeyLookup | Promise<ApiKeyLookup | null> {
    const now = clock.monotonicMs();
    const cached = cache.get(publicId);
    if (cached !== undefined && isFresh(cached, now)) return cached.record;
    const record = withinDeadline(findApiKey(db, publicId));
    const entry: CachedKey = { askedAtMs: now, expiresAtMs: Infinity, record };
    cache.delete(publicId);
    // Cached before the answer arrives, so that an invalidation in the meantime removes it.
    cache.set(publicId, entry);
    record.then(
      (found) => (found === null ? forget(publicId, entry) : remember(entry, found)),
      () => forget(publicId, entry),
    );
    if (cache.size > CACHE_KEYS_MAX) cache.delete(cache.keys().next().value ?? '');
    return record;
  }
  function isFresh({ askedAtMs, expiresAtMs }: CachedKey, now: number): boolean {
    const ttlMs = invalidation.coversSince(askedAtMs) ? WATCHED_TTL_MS : UNWATCHED_TTL_MS;
    return now < Math.min(askedAtMs + ttlMs, expiresAtMs);
  }
  /** Failures and unknown ids are not cached. */
  function forget(publicId: string, entry: CachedKey): void {
    if (cache.get(publicId) === entry) cache.delete(publicId);
  }
  function admit(key: string, record: ApiKeyLookup | null): Caller {
    const pepper = peppers.get(record?.pepperId ?? current.id) ?? current.secret;
    const matches = timingSafeEqual(hashApiKey(key, pepper), record?.hmac ?? noMatch);
    if (record === null || !matches) throw new ApiError('invalid_api_key');
    if (record.movedTo !== null) throw accountMoved(record.movedTo);
    if (record.pepperId !== current.id) rehash(key, record);
    const refused = { accountId: record.accountId, keyId: record.id };
    if (record.revoked) throw new ApiError('revoked_api_key', { refused });
    if (record.expired) throw new ApiError('expired_api_key', { refused });
    if (!record.accountActive) throw new ApiError('account_inactive', { refused });
    used.add(record.id);
    return { ...refused, models: modelsOf(record) };
  }
  /** Moves a key to the current pepper in the background. Its cached record stays valid. */
  function rehash(key: string, record: ApiKeyLookup): void {
    if (rehashing.has(record.id)) return;
    rehashing.add(record.id);
    const hmac = hashApiKey(key, current.secret);
    const replacement = { id: record.id, oldHmac: record.hmac, hmac, pepperId: current.id };
    void rehashApiKey(db, replacement)
      .catch((error: unknown) => log.warn({ err: error }, 'An API key could not be rehashed.'))
      .finally(() => rehashing.delete(record.id));
  }
  invalidation.onChange = (publicId) => cache.delete(publicId);
  async function writeKeysUsed(): Promise<void> {
    if (used.size === 0) return;
    const keyIds = [...used];
    used.clear();
    await touchApiKeys(db, keyIds);
  }
  const writing = startPeriodic({
    everyMs: KEYS_USED_EVERY_MS,
    log,
    failure: 'The last-used times of API keys could not be written.',
    run: writeKeysUsed,
  });

  return {
    authenticate(authorization) {
      const key = BEARER.exec(authorization ?? '')?.[1];
      if (key === undefined) throw new ApiError('missing_api_key');
      const publicId = parseApiKey(key);
      if (publicId === null) throw new ApiError('invalid_api_key');
      const record = find(publicId);
      if (record instanceof Promise) {
        // Started before the lookup, so that the time of a refusal doesn't depend on the lookup.
        const refusal = sleep(REFUSE_AFTER_MS);
        return record.then((found) => admit(key, found)).catch(refuseAfter(refusal));
      }
      try {
        return admit(key, record);
      } catch (error) {
        return refuseAfter(sleep(REFUSE_AFTER_MS))(error);
      }
    },
    async close() {
      await writing.stop();
      await writeKeysUsed().catch(() => {});
    },
  };
}

/** The edge reads the header, remembers the key's cell, and removes the header. The caller's retry then arrives there. */
function accountMoved(cell: string): ApiError {
  return new ApiError('service_unavailable', { headers: { 'x-svc-moved-to': cell } });
}

/** Delays a refusal whose timing could reveal whether the key id exists. */
function refuseAfter(moment: Promise<void>) {
  return async (error: unknown): Promise<never> => {
    if (error instanceof ApiError && error.code === 'invalid_api_key') await moment;
    throw error;
  };
}

/** Caches a live key until it expires. An expired key stays expired. */
function remember(entry: CachedKey, found: ApiKeyLookup): void {
  entry.record = found;
  if (found.expired || found.expiresInMs === null) return;
  entry.expiresAtMs = entry.askedAtMs + found.expiresInMs;
}

function modelsOf(record: ApiKeyLookup): ReadonlySet<ModelId> {
  return record.scopes === null ? EVERY_MODEL : new Set(record.scopes);
}
