import type * as WebAuthn from '@simplewebauthn/server';
import { CONSOLE_LIMITS, type UsePasskey } from '@svc-asr/protocol/console/console.ts';
import { findPasskey, markPasskeyUsed } from '../../accounts/people/passkeys.ts';
import { isDatabaseUnavailable, type Queryable } from '../../platform/database/db.ts';
import type { ConsoleDeps } from '../deps.ts';
import { ConsoleError } from '../request/error.ts';
import { hashToken, newToken } from './tokens.ts';

/** Loads about twenty packages on first use, because most processes never need them. */
export function webauthn(): Promise<typeof WebAuthn> {
  return import('@simplewebauthn/server');
}

/** Ed25519, P-256 and RSA. Devices support at least one, and Node verifies them without experimental features. */
export const ALGORITHMS = [-8, -7, -257];

/** A passkey is bound to the public URL, not to a request's Host header. */
export function relyingParty({ publicUrl }: ConsoleDeps): { id: string; origin: string } {
  const { hostname, origin } = new URL(publicUrl);
  return { id: hostname, origin };
}

/** Options for a browser that has a passkey sign the challenge. */
export async function authenticationOptions(deps: ConsoleDeps, challenge: string) {
  const { generateAuthenticationOptions } = await webauthn();
  return generateAuthenticationOptions({
    rpID: relyingParty(deps).id,
    challenge: Buffer.from(challenge, 'base64url'),
    timeout: CONSOLE_LIMITS.passkeyChallengeLifetimeMs,
    userVerification: 'required',
  });
}

/** The user handle that the device stores: the member's id, without personal data. */
export function userHandleOf(userId: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(userId.replaceAll('-', ''), 'hex'));
}

/** The library throws a different error for each kind of invalid response. Callers see one. */
export async function refuseUnless<T extends { verified: boolean }>(
  verification: Promise<T>,
): Promise<T> {
  const result = await verification.catch((error: unknown) => {
    // Verification queries the database. An unavailable database doesn't mean an invalid passkey.
    if (isDatabaseUnavailable(error)) throw error;
    return null;
  });
  if (result === null || !result.verified) throw new ConsoleError('passkey_refused');
  return result;
}

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

/** A token for a device to sign, for this person's new passkey or, with null, for a sign-in. */
export async function issueChallenge(db: Queryable, userId: string | null): Promise<string> {
  const challenge = newToken();
  await db.query('delete from passkey_challenges where expires_at <= clock_timestamp()');
  await db.query(
    `insert into passkey_challenges (challenge_hash, user_id, expires_at)
      values ($1, $2, clock_timestamp() + $3 * interval '1 ms')`,
    [hashToken(challenge), userId, CONSOLE_LIMITS.passkeyChallengeLifetimeMs],
  );
  return challenge;
}

/** Returns true once, and only for the person that the challenge was issued for. */
export async function spendChallenge(
  db: Queryable,
  input: { challenge: string; userId: string | null },
): Promise<boolean> {
  const { rowCount } = await db.query(
    `delete from passkey_challenges
      where challenge_hash = $1 and user_id is not distinct from $2
        and expires_at > clock_timestamp()`,
    [hashToken(input.challenge), input.userId],
  );
  return rowCount === 1;
}
