import {
  RequestCode,
  VerifyCode,
  type CodeRequested,
  type SignInMethods,
} from '@svc-asr/protocol/console/console.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { normaliseEmail } from '../../accounts/people/email-address.ts';
import { findPersonByEmail } from '../../accounts/people/members.ts';
import { ApiError } from '../../platform/api-error.ts';
import { audited, limitForms } from '../request/guard.ts';
import { closeEverySession, closeSession, openSession } from './browser-sessions.ts';
import type { ConsoleDeps } from '../deps.ts';
import { ConsoleError } from '../request/error.ts';
import {
  CLEARED_COOKIE,
  deviceCookie,
  readSessionToken,
  sessionCookie,
} from '../request/cookies.ts';
import { codeEmail } from '../email/texts.ts';
import { deviceOf, newDeviceToken, placesOf, rememberPlaces } from './known-device.ts';
import { issueCode, spendCode } from './codes.ts';

/**
 * Sign-in with an emailed code, which sets a session cookie. Responses are the same for known and
 * unknown addresses.
 */
export function signInRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  const onRequest = limitForms(deps);
  const { origin } = new URL(deps.publicUrl);
  app.get('/sign-in/methods', (): SignInMethods => ({ email: deps.outbox !== null, origin }));

  app.post<{ Body: RequestCode }>(
    '/sign-in/code',
    { onRequest, schema: { body: RequestCode } },
    async (request, reply): Promise<CodeRequested> => {
      const { outbox } = deps;
      if (outbox === null) throw new ConsoleError('email_not_configured');
      const email = normaliseEmail(request.body.email);
      const person = await findPersonByEmail(deps.signInDb, email);
      const userId = person?.id ?? null;
      const { secrets } = deps;
      const places = placesOf(deps, { address: request.ip, device: deviceOf(request, deps) });
      const issued = await issueCode(deps.signInDb, { secrets, userId, email, places });
      if ('retryAfterSeconds' in issued) throw new ApiError('request_rate_exceeded', issued);
      if (person !== null) {
        outbox.enqueue(
          codeEmail({ to: person.email, code: issued.code, language: request.body.language }),
        );
      }
      void reply.code(202);
      return { challenge: issued.challenge };
    },
  );

  app.post<{ Body: VerifyCode }>(
    '/sign-in/verify',
    { onRequest, schema: { body: VerifyCode } },
    async (request, reply) => {
      const code = { secrets: deps.secrets, ...request.body };
      const userId = await audited(deps.signInDb, request, (db) => spendCode(db, code));
      if (userId === null) throw new ConsoleError('wrong_code');
      await signIn(deps, { request, reply, userId, verifiedBy: 'code' });
      return {};
    },
  );

  app.post('/sign-out', async (request, reply) => {
    const token = readSessionToken(request.headers.cookie);
    if (token !== null) await closeSession(deps.db, token);
    // The browser also drops its cache.
    void reply.header('set-cookie', CLEARED_COOKIE).header('clear-site-data', '"cache"');
    return {};
  });

  app.post('/sign-out-everywhere', async (request, reply) => {
    const token = readSessionToken(request.headers.cookie);
    if (token !== null) await closeEverySession(deps.db, token);
    void reply.header('set-cookie', CLEARED_COOKIE).header('clear-site-data', '"cache"');
    return {};
  });
}

/** Opens a session after a person has signed in by code or passkey. */
export async function signIn(
  deps: ConsoleDeps,
  input: {
    request: FastifyRequest;
    reply: FastifyReply;
    userId: string;
    verifiedBy: 'code' | 'passkey';
  },
): Promise<void> {
  const { request, reply, userId } = input;
  // Always a new token, which prevents session fixation.
  const old = readSessionToken(request.headers.cookie);
  if (old !== null) await closeSession(deps.db, old);
  const device = deviceOf(request, deps) ?? newDeviceToken(deps.secrets);
  const places = placesOf(deps, { address: request.ip, device });
  const token = await audited(deps.signInDb, request, async (db) => {
    await rememberPlaces(db, { userId, places });
    return openSession(db, { ...input, userAgent: request.headers['user-agent'] });
  });
  void reply.header('set-cookie', sessionCookie(token));
  void reply.header('set-cookie', deviceCookie(device));
}
