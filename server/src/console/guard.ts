import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';
import { findSession, type SignedIn } from './browser-sessions.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { ConsoleError } from './console-error.ts';
import { readSessionToken } from './cookies.ts';

declare module 'fastify' {
  interface FastifyRequest {
    signedIn: SignedIn | null;
  }
}

/**
 * Nothing that changes anything is done for another site. A browser says where a request comes from in headers that
 * no page can forge; what says nothing is not a browser, and has no business with a cookie.
 */
export async function refuseOtherSites(request: FastifyRequest): Promise<void> {
  if (request.method === 'GET' || request.method === 'HEAD') return;
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (site !== undefined && site !== 'same-origin') throw new ConsoleError('cross_site_request');
  if (origin === undefined || !URL.canParse(origin) || new URL(origin).host !== request.host) {
    throw new ConsoleError('cross_site_request');
  }
}

export function requireSignedIn({ db, requests }: ConsoleDeps) {
  return async (request: FastifyRequest): Promise<void> => {
    const token = readSessionToken(request.headers.cookie);
    // Nothing after this needs it, so nothing after this can let it out.
    delete request.headers.cookie;
    const signedIn = token === null ? null : await findSession(db, token);
    if (signedIn === null) throw new ConsoleError('not_signed_in');
    const { allowed, resetSeconds } = requests.take(signedIn.userId);
    if (!allowed) throw new ApiError('request_rate_exceeded', { retryAfterSeconds: resetSeconds });
    request.signedIn = signedIn;
  };
}

export function signedInOf(request: FastifyRequest): SignedIn {
  if (request.signedIn === null) throw new Error('This route does not ask who is there.');
  return request.signedIn;
}

export async function requireOwner(request: FastifyRequest): Promise<void> {
  if (signedInOf(request).role !== 'owner') throw new ConsoleError('owner_only');
}

/** To everybody else the operators' page does not exist. */
export async function requireOperator(request: FastifyRequest): Promise<void> {
  if (!signedInOf(request).operator) throw new ConsoleError('not_found');
}

export async function forbidCaching(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  void reply.header('cache-control', 'no-store');
}
