import { UsePasskey } from '@svc-asr/protocol/console/console.ts';
import type { FastifyInstance } from 'fastify';
import { confirmSession } from './browser-sessions.ts';
import type { ConsoleDeps } from '../deps.ts';
import { ConsoleError } from '../request/error.ts';
import { challengeCookie, CLEARED_CHALLENGE } from '../request/cookies.ts';
import { signedInOf } from '../request/guard.ts';
import {
  authenticationOptions,
  issueChallenge,
  spendChallenge,
  verifyPasskey,
} from './webauthn.ts';

/** A signed-in person uses their passkey again, before passkeys change, credit is granted or an account suspended. */
export function confirmRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  app.post('/confirm/options', async (request, reply) => {
    const challenge = await issueChallenge(deps.signInDb, signedInOf(request).userId);
    void reply.header('set-cookie', challengeCookie(challenge));
    return authenticationOptions(deps, challenge);
  });

  app.post<{ Body: UsePasskey }>(
    '/confirm',
    { schema: { body: UsePasskey } },
    async (request, reply) => {
      const { userId, token, challenge } = signedInOf(request);
      const spent =
        challenge !== null && (await spendChallenge(deps.signInDb, { challenge, userId }));
      if (!spent) throw new ConsoleError('passkey_refused');
      const person = await verifyPasskey(deps, { ...request.body, challenge });
      if (person !== userId || !(await confirmSession(deps.signInDb, { token, userId }))) {
        throw new ConsoleError('passkey_refused');
      }
      void reply.header('set-cookie', CLEARED_CHALLENGE);
      return {};
    },
  );
}
