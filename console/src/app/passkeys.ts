import type * as WebAuthn from '@simplewebauthn/browser';
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser';
import type { PasskeyList } from '@svc-asr/protocol/console.ts';
import { ConsoleApiError, post } from './api.ts';

/** Returns whether this browser supports passkeys. */
export function canUsePasskeys(): boolean {
  return typeof PublicKeyCredential === 'function';
}

/** Creates a passkey on this device and stores its public key on the server. */
export async function addPasskey(name: string): Promise<PasskeyList> {
  const optionsJSON = await post<PublicKeyCredentialCreationOptionsJSON>('/passkeys/options');
  const { startRegistration } = await loadWebAuthn();
  const credential = await startRegistration({ optionsJSON }).catch(throwConsoleError);
  return post<PasskeyList>('/passkeys', { name, credential });
}

export async function signInWithPasskey(): Promise<void> {
  const optionsJSON = await post<PublicKeyCredentialRequestOptionsJSON>('/sign-in/passkey/options');
  const { startAuthentication } = await loadWebAuthn();
  const credential = await startAuthentication({ optionsJSON }).catch(throwConsoleError);
  await post('/sign-in/passkey', { credential });
}

/** Runs an operator's action. If the server asks for it, the operator confirms with their passkey first. */
export async function withConfirmation(action: () => Promise<unknown>): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (!(error instanceof ConsoleApiError) || error.code !== 'confirm_first') throw error;
    const optionsJSON = await post<PublicKeyCredentialRequestOptionsJSON>(
      '/operator/confirm/options',
    );
    const { startAuthentication } = await loadWebAuthn();
    const credential = await startAuthentication({ optionsJSON }).catch(throwConsoleError);
    await post('/operator/confirm', { credential });
    await action();
  }
}

/** Loads the WebAuthn library on first use. */
function loadWebAuthn(): Promise<typeof WebAuthn> {
  return import('@simplewebauthn/browser').catch((cause: unknown) => {
    throw new ConsoleApiError({ code: 'offline', message: String(cause), requestId: null });
  });
}

/** Maps a WebAuthn error to one of the console's error codes. */
function throwConsoleError(error: unknown): never {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const code = name === 'InvalidStateError' ? 'passkey_known' : 'passkey_unused';
  throw new ConsoleApiError({ code, message, requestId: null });
}
