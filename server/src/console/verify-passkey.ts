import type { UsePasskey } from '@svc-asr/protocol/console.ts';
import { findPasskey, markPasskeyUsed } from '../accounts/passkeys.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { ConsoleError } from './console-error.ts';
import { refuseUnless, relyingParty, userHandleOf, webauthn } from './webauthn.ts';

/** Returns the person whose passkey signed the challenge. Throws if the signature isn't valid. */
export async function verifyPasskey(
  deps: ConsoleDeps,
  { credential, challenge }: UsePasskey & { challenge: string },
): Promise<string> {
  const passkey = await findPasskey(deps.signInDb, credential.id);
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
  // The library refuses a counter that did not increase (a cloned device). The update refuses concurrent uses.
  const counted = await markPasskeyUsed(deps.signInDb, passkey, authenticationInfo.newCounter);
  if (!counted) throw new ConsoleError('passkey_refused');
  return passkey.userId;
}
