import { RequestCode, VerifyCode, type CodeRequested } from '@svc-asr/protocol/console.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { findMemberByEmail } from '../accounts/members.ts';
import { ApiError } from '../errors.ts';
import { networkOf } from '../network.ts';
import { closeSession, openSession } from './browser-sessions.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { ConsoleError } from './console-error.ts';
import { CLEARED_COOKIE, readSessionToken, sessionCookie } from './cookies.ts';
import { limitForms } from './form-limit.ts';
import { codeLetter } from './letters.ts';
import { issueCode, spendCode } from './sign-in-codes.ts';

const CODES_RETRY_AFTER_SECONDS = 3_600;

/** An address, a code by mail, a cookie. The answers are the same whether the address is known or not. */
export function signInRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  const onRequest = limitForms(deps);
  app.post<{ Body: RequestCode }>(
    '/sign-in/code',
    { onRequest, schema: { body: RequestCode } },
    async (request, reply): Promise<CodeRequested> => {
      const { outbox } = deps;
      if (outbox === null) throw new ApiError('service_unavailable');
      const { email, language } = request.body;
      const member = await findMemberByEmail(deps.db, email);
      const userId = member?.id ?? null;
      const issued = await issueCode(deps.db, {
        secret: deps.secret,
        userId,
        email,
        source: networkOf(request.ip),
      });
      if (issued === null) {
        throw new ApiError('request_rate_exceeded', {
          retryAfterSeconds: CODES_RETRY_AFTER_SECONDS,
        });
      }
      if (member !== null) {
        outbox.post(codeLetter({ to: member.email, code: issued.code, language }));
      }
      void reply.code(202);
      return { challenge: issued.challenge };
    },
  );

  app.post<{ Body: VerifyCode }>(
    '/sign-in/verify',
    { onRequest, schema: { body: VerifyCode } },
    async (request, reply) => {
      const userId = await spendCode(deps.db, { secret: deps.secret, ...request.body });
      if (userId === null) throw new ConsoleError('wrong_code');
      await signIn(deps, { request, reply, userId });
      return {};
    },
  );

  app.post('/sign-out', async (request, reply) => {
    const token = readSessionToken(request.headers.cookie);
    if (token !== null) await closeSession(deps.db, token);
    // The browser forgets what it has seen, too.
    void reply.header('set-cookie', CLEARED_COOKIE).header('clear-site-data', '"cache"');
    return {};
  });
}

/** Whoever has proved who they are gets a session, however they proved it. */
export async function signIn(
  deps: ConsoleDeps,
  input: { request: FastifyRequest; reply: FastifyReply; userId: string },
): Promise<void> {
  // Never the token the browser came with: whoever planted one must not share the session.
  const old = readSessionToken(input.request.headers.cookie);
  if (old !== null) await closeSession(deps.db, old);
  const token = await openSession(deps.db, input.userId);
  void input.reply.header('set-cookie', sessionCookie(token));
}
