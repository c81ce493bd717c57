import { networkOf } from '@svc-asr/runtime/network.ts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { withAuditContext } from '../../accounts/logs/audit-log.ts';
import { ApiError } from '../../platform/api-error.ts';
import type { Pool, Queryable } from '../../platform/database/db.ts';
import { createRateLimiter, type RateDecision } from '../../platform/network/rate-limit.ts';
import type { ConsoleDeps } from '../deps.ts';
import { type CurrentAccount, findSession, type SignedIn } from '../sign-in/browser-sessions.ts';
import { deviceOf } from '../sign-in/known-device.ts';
import { readChallenge, readSessionToken } from './cookies.ts';
import { ConsoleError } from './error.ts';

/** A person with the cookies of their browser. */
export interface SignedInBrowser extends SignedIn {
  readonly token: string;
  /** The passkey challenge this browser was given, if any. */
  readonly challenge: string | null;
}

declare module 'fastify' {
  interface FastifyRequest {
    signedIn: SignedInBrowser | null;
  }
}

/**
 * Refuses every changing request that another site makes. Browsers state the origin of a request in
 * headers that no page can forge. A client that states none isn't a browser and must not use a cookie.
 */
export function refuseOtherSites({ publicUrl }: ConsoleDeps) {
  const ownOrigin = new URL(publicUrl).origin;
  return async (request: FastifyRequest): Promise<void> => {
    if (request.method === 'GET' || request.method === 'HEAD') return;
    const { origin, 'sec-fetch-site': site } = request.headers;
    // Never compared with the request's Host header, which an attacker can set.
    if (origin !== ownOrigin || (site !== undefined && site !== 'same-origin')) {
      throw new ConsoleError('cross_site_request');
    }
  };
}

const KNOWN_TOKENS_MAX = 10_000;
/** Cookies that this process has not seen before, from one network. */
const UNSEEN_SESSIONS = { perMinute: 120, burst: 120 };

/**
 * Finds the session of a request. Unknown cookies are rate limited by network before the database
 * query. A session that was valid a moment ago always passes.
 */
export function requireSignedIn({ db, requests, service }: ConsoleDeps) {
  const unseen = createRateLimiter(UNSEEN_SESSIONS, service.clock);
  const known = new Set<string>();
  function remember(token: string): void {
    known.delete(token);
    known.add(token);
    if (known.size > KNOWN_TOKENS_MAX) known.delete(known.values().next().value ?? '');
  }
  return async (request: FastifyRequest): Promise<void> => {
    const token = readSessionToken(request.headers.cookie);
    const challenge = readChallenge(request.headers.cookie);
    // Nothing after this reads the header, so nothing after this can leak it.
    delete request.headers.cookie;
    if (token === null) throw new ConsoleError('not_signed_in');
    if (!known.has(token)) refuseAbove(unseen.take(networkOf(request.ip)));
    const signedIn = await findSession(db, token);
    if (signedIn === null) {
      known.delete(token);
      throw new ConsoleError('not_signed_in');
    }
    remember(token);
    refuseAbove(await requests.take(signedIn.userId));
    request.signedIn = { ...signedIn, token, challenge };
  };
}

function refuseAbove({ allowed, resetSeconds }: RateDecision): void {
  if (!allowed) throw new ApiError('request_rate_exceeded', { retryAfterSeconds: resetSeconds });
}

export function signedInOf(request: FastifyRequest): SignedInBrowser {
  if (request.signedIn === null) throw new Error('This route does not require a sign-in.');
  return request.signedIn;
}

/** A signed-in person in the account they work in. */
export interface SignedInMember extends SignedInBrowser {
  readonly account: CurrentAccount;
  readonly accountId: string;
}

export function memberOf(request: FastifyRequest): SignedInMember {
  const signedIn = signedInOf(request);
  const { account } = signedIn;
  if (account === null) throw new ConsoleError('no_account');
  return { ...signedIn, account, accountId: account.id };
}

export async function requireAccount(request: FastifyRequest): Promise<void> {
  memberOf(request);
}

export async function requireOwner(request: FastifyRequest): Promise<void> {
  if (memberOf(request).account.role !== 'owner') throw new ConsoleError('owner_only');
}

/** Everyone else gets 404. */
export async function requireOperator(request: FastifyRequest): Promise<void> {
  const { operator, verifiedBy } = signedInOf(request);
  if (!operator) throw new ConsoleError('not_found');
  if (verifiedBy !== 'passkey') throw new ConsoleError('passkey_required');
}

export async function forbidCaching(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  void reply.header('cache-control', 'no-store');
}

/** Runs changes in one transaction whose audit entries name this request and its user. */
export function audited<T>(
  pool: Pool,
  request: FastifyRequest,
  work: (db: Queryable) => Promise<T>,
): Promise<T> {
  const context = {
    actorId: request.signedIn?.userId ?? null,
    requestId: request.id,
    source: networkOf(request.ip),
  };
  return withAuditContext(pool, context, work);
}

/**
 * Public forms are rate limited by network address. When a network is over its limit, a device on which someone has
 * signed in before still has one of its own, so that its neighbours can't lock it out.
 */
export function limitForms(deps: ConsoleDeps) {
  const { consoleForms } = deps.service.limiters;
  return async (request: FastifyRequest): Promise<void> => {
    const { allowed, resetSeconds } = await consoleForms.take(networkOf(request.ip));
    if (allowed) return;
    const device = deviceOf(request, deps);
    if (device !== null && (await consoleForms.take(`device ${device}`)).allowed) return;
    throw new ApiError('request_rate_exceeded', { retryAfterSeconds: resetSeconds });
  };
}
