import { UsePasskey } from '@svc-asr/protocol/console/console.ts';
import type { FastifyInstance } from 'fastify';
import type { ConsoleDeps } from '../deps.ts';
import { ConsoleError } from '../request/error.ts';
import { challengeCookie, CLEARED_CHALLENGE, readChallenge } from '../request/cookies.ts';
import { limitForms } from '../request/guard.ts';
import {
  authenticationOptions,
  issueChallenge,
  spendChallenge,
  verifyPasskey,
} from './webauthn.ts';
import { signIn } from './sign-in.ts';

/** Sign-in needs no email address, because the passkey identifies the person. So nobody can probe for accounts. */
export function passkeySignInRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  const onRequest = limitForms(deps);
  app.post('/sign-in/passkey/options', { onRequest }, async (_request, reply) => {
    const challenge = await issueChallenge(deps.signInDb, null);
    void reply.header('set-cookie', challengeCookie(challenge));
    return authenticationOptions(deps, challenge);
  });

  app.post<{ Body: UsePasskey }>(
    '/sign-in/passkey',
    { onRequest, schema: { body: UsePasskey } },
    async (request, reply) => {
      // The challenge of this browser only, so that a captured response is useless elsewhere.
      const challenge = readChallenge(request.headers.cookie);
      if (
        challenge === null ||
        !(await spendChallenge(deps.signInDb, { challenge, userId: null }))
      ) {
        throw new ConsoleError('passkey_refused');
      }
      const userId = await verifyPasskey(deps, { ...request.body, challenge });
      void reply.header('set-cookie', CLEARED_CHALLENGE);
      await signIn(deps, { request, reply, userId, verifiedBy: 'passkey' });
      return {};
    },
  );
}
