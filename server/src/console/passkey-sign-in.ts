import { CONSOLE_LIMITS, UsePasskey } from '@svc-asr/protocol/console.ts';
import type { FastifyInstance } from 'fastify';
import { findPasskey, markPasskeyUsed } from '../accounts/passkeys.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { ConsoleError } from './console-error.ts';
import { challengeCookie, CLEARED_CHALLENGE, readChallenge } from './cookies.ts';
import { limitForms } from './form-limit.ts';
import { issueChallenge, spendChallenge } from './passkey-challenges.ts';
import { signIn } from './sign-in.ts';
import { refuseUnless, relyingParty, userHandleOf, webauthn } from './webauthn.ts';

/** No address is asked for: the device says whose passkey it holds, so there is nothing to learn about anybody. */
export function passkeySignInRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  const onRequest = limitForms(deps);
  app.post('/sign-in/passkey/options', { onRequest }, async (_request, reply) => {
    const challenge = await issueChallenge(deps.db, null);
    const { generateAuthenticationOptions } = await webauthn();
    void reply.header('set-cookie', challengeCookie(challenge));
    return generateAuthenticationOptions({
      rpID: relyingParty(deps).id,
      challenge: Buffer.from(challenge, 'base64url'),
      timeout: CONSOLE_LIMITS.passkeyChallengeLifetimeMs,
      userVerification: 'required',
    });
  });

  app.post<{ Body: UsePasskey }>(
    '/sign-in/passkey',
    { onRequest, schema: { body: UsePasskey } },
    async (request, reply) => {
      // What this browser was given to sign, and no other: a captured answer is worth nothing elsewhere.
      const challenge = readChallenge(request.headers.cookie);
      if (challenge === null || !(await spendChallenge(deps.db, { challenge, userId: null }))) {
        throw new ConsoleError('passkey_refused');
      }
      const userId = await findUser(deps, { ...request.body, challenge });
      void reply.header('set-cookie', CLEARED_CHALLENGE);
      await signIn(deps, { request, reply, userId });
      return {};
    },
  );
}

async function findUser(
  deps: ConsoleDeps,
  { credential, challenge }: UsePasskey & { challenge: string },
): Promise<string> {
  const passkey = await findPasskey(deps.db, credential.id);
  if (passkey === null) throw new ConsoleError('passkey_refused');
  const handle = Buffer.from(credential.response.userHandle, 'base64url');
  if (!handle.equals(userHandleOf(passkey.userId))) throw new ConsoleError('passkey_refused');
  const { verifyAuthenticationResponse } = await webauthn();
  const { authenticationInfo } = await refuseUnless(
    verifyAuthenticationResponse({
      response: credential,
      expectedChallenge: challenge,
      expectedOrigin: relyingParty(deps).origin,
      expectedRPID: relyingParty(deps).id,
      requireUserVerification: true,
      credential: {
        id: passkey.credentialId,
        publicKey: passkey.publicKey,
        counter: passkey.counter,
      },
    }),
  );
  // A counter that stands still or goes back is a copied device: the library has refused it, the row refuses a race.
  const counted = await markPasskeyUsed(deps.db, passkey, authenticationInfo.newCounter);
  if (!counted) throw new ConsoleError('passkey_refused');
  return passkey.userId;
}
