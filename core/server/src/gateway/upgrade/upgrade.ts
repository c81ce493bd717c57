import type { IncomingMessage } from 'node:http';
import { CREDENTIAL_PREFIX, STREAM_PATH, SUBPROTOCOL } from '@svc-asr/protocol';
import { proofOf } from '@svc-asr/protocol/lost-host.ts';
import type { SessionCredential } from '../../sessions/credentials.ts';
import type { Deps } from '../../deps.ts';
import { listAllowedOrigins } from '../../accounts/accounts.ts';
import { ApiError } from '../../platform/api-error.ts';
import type { ClaimInput, ClaimResult, Ledger } from '../../ledger/ledger.ts';
import { networkOf } from '@svc-asr/runtime/network.ts';
import { rateLimited } from '../../platform/network/rate-limit.ts';

/** Decides who may open a stream. All checks precede the 101, so an open socket is an accepted stream. */

type UpgradeDeps = Pick<Deps, 'credentials' | 'lifecycle'>;

export type ClaimedSession = Extract<ClaimResult, { outcome: 'claimed' }>['session'];

const WEBSOCKET_KEY = /^[+/0-9A-Za-z]{22}==$/;

/** Returns the offered subprotocols and removes them from the request, so that nothing can log the secret. */
export function takeProtocols(request: IncomingMessage): string[] {
  const offered = request.headers['sec-websocket-protocol'] ?? '';
  request.headers['sec-websocket-protocol'] = SUBPROTOCOL;
  request.rawHeaders = request.rawHeaders.filter(
    (_, at, all) => all[at - (at % 2)]?.toLowerCase() !== 'sec-websocket-protocol',
  );
  return offered.split(',').map((value) => value.trim());
}

/** Cheap tests first: a bad upgrade costs no database call and no engine slot. */
export function checkUpgrade(
  deps: UpgradeDeps,
  input: { request: IncomingMessage; offered: readonly string[] },
): SessionCredential {
  checkHandshake(input.request);
  if (deps.lifecycle.draining) throw new ApiError('service_restarting');
  if (!input.offered.includes(SUBPROTOCOL)) throw new ApiError('unsupported_subprotocol');
  const [text, second] = input.offered.filter((value) => value.startsWith(CREDENTIAL_PREFIX));
  if (second !== undefined) throw new ApiError('unsupported_subprotocol');
  if (text === undefined) throw new ApiError('missing_session_credential');
  const credential = deps.credentials.verify(text);
  if (credential === null) throw new ApiError('invalid_session_credential');
  return credential;
}

/** The proof of the credential that `checkUpgrade` accepted. */
export function proofIn(offered: readonly string[]): string {
  return proofOf(offered.find((value) => value.startsWith(CREDENTIAL_PREFIX)) ?? '');
}

/**
 * Counts a refusal that the client caused against its address. Above the limit the client gets 429 instead. A valid
 * credential is never counted, so one address can open any number of streams (carrier NAT, telephony gateways).
 */
export async function limitFailedUpgrades(
  { limiters }: Pick<Deps, 'limiters'>,
  refusal: ApiError,
  address: string,
): Promise<ApiError> {
  if (refusal.status !== 400 && refusal.status !== 401) return refusal;
  const decision = await limiters.failedUpgrades.take(networkOf(address));
  return decision.allowed
    ? refusal
    : rateLimited('failed-upgrades', limiters.failedUpgrades, decision);
}

export async function claimSession(
  ledger: Pick<Ledger, 'claim'>,
  input: ClaimInput,
): Promise<ClaimedSession> {
  const claim = await ledger.claim(input);
  switch (claim.outcome) {
    case 'claimed':
      return claim.session;
    case 'expired':
      throw new ApiError('session_credential_expired');
    case 'used':
      throw new ApiError('session_credential_used');
    case 'unknown':
      throw new ApiError('invalid_session_credential');
    case 'account_inactive':
      throw new ApiError('account_inactive');
  }
}

/**
 * Checks a browser's Origin against the account's allowed origins. Requests without Origin don't come
 * from a browser. Our own console is always allowed, for its playground. Comes before the claim: a refused upgrade
 * never spends the credential.
 */
export async function checkOrigin(
  deps: Pick<Deps, 'db' | 'config'>,
  input: { request: IncomingMessage; accountId: string },
): Promise<void> {
  const { origin } = input.request.headers;
  if (origin === undefined || origin === new URL(deps.config.console.publicUrl).origin) return;
  const allowed = await listAllowedOrigins(deps.db, input.accountId);
  if (allowed !== null && !allowed.includes(origin)) throw new ApiError('origin_not_allowed');
}

/** `ws` checks these too, but only after the credential would have been used up. */
function checkHandshake(request: IncomingMessage): void {
  const [path] = (request.url ?? '').split('?');
  if (path !== STREAM_PATH) throw new ApiError('route_not_found');
  if (request.method !== 'GET') throw new ApiError('method_not_allowed');
  if (request.headers.upgrade?.toLowerCase() !== 'websocket')
    throw new ApiError('upgrade_required');
  if (request.headers['sec-websocket-version'] !== '13') throw new ApiError('upgrade_required');
  if (!WEBSOCKET_KEY.test(request.headers['sec-websocket-key'] ?? '')) {
    throw new ApiError('malformed_request');
  }
}
