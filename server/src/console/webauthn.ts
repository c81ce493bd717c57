import type * as WebAuthn from '@simplewebauthn/server';
import { CONSOLE_LIMITS } from '@svc-asr/protocol/console.ts';
import { isDatabaseUnavailable } from '../platform/db.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { ConsoleError } from './console-error.ts';

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
