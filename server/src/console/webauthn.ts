import type * as WebAuthn from '@simplewebauthn/server';
import { isDatabaseAway } from '../db.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { ConsoleError } from './console-error.ts';

/** Twenty-odd packages that most processes never need: they are loaded when the first passkey is. */
export function webauthn(): Promise<typeof WebAuthn> {
  return import('@simplewebauthn/server');
}

/** Ed25519, P-256 and RSA: what every device has, and what Node checks without an experiment. */
export const ALGORITHMS = [-8, -7, -257];

/** A passkey belongs to the address that people reach, whatever a request says of itself. */
export function relyingParty({ publicUrl }: ConsoleDeps): { id: string; origin: string } {
  const { hostname, origin } = new URL(publicUrl);
  return { id: hostname, origin };
}

/** What a device keeps to know whose passkey it holds: the member's id, and nothing that names them. */
export function userHandleOf(userId: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(userId.replaceAll('-', ''), 'hex'));
}

/** The library throws for every way in which an answer can be wrong; to the caller they are one. */
export async function refuseUnless<T extends { verified: boolean }>(
  verification: Promise<T>,
): Promise<T> {
  const result = await verification.catch((error: unknown) => {
    // Challenges are spent while an answer is checked: that the database is away says nothing about the passkey.
    if (isDatabaseAway(error)) throw error;
    return null;
  });
  if (result === null || !result.verified) throw new ConsoleError('passkey_refused');
  return result;
}
