import type * as WebAuthn from '@simplewebauthn/browser';
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser';
import type { PasskeyList } from '@svc-asr/protocol/console/console.ts';
import { ConsoleApiError, post } from './api.ts';

/** Returns whether this browser supports passkeys. */
export function canUsePasskeys(): boolean {
  return typeof PublicKeyCredential === 'function';
}

/**
 * Creates a passkey on this device and stores its public key on the server. A person who has a passkey confirms with it
 * first. Operators can give an enrolment code instead.
 */
export async function addPasskey(name: string, enrolmentCode: string): Promise<PasskeyList> {
  const enrolment = enrolmentCode === '' ? {} : { enrolment_code: enrolmentCode };
  return withConfirmation(async () => {
    const path = '/passkeys/options';
    const optionsJSON = await post<PublicKeyCredentialCreationOptionsJSON>(path, enrolment);
    const { startRegistration } = await loadWebAuthn();
    const credential = await startRegistration({ optionsJSON }).catch(throwConsoleError);
    return post<PasskeyList>('/passkeys', { ...enrolment, name, credential });
  });
}

export async function signInWithPasskey(): Promise<void> {
  const optionsJSON = await post<PublicKeyCredentialRequestOptionsJSON>(
    '/sign-in/passkey/options',
    {},
    { signIn: 'fail' },
  );
  const { startAuthentication } = await loadWebAuthn();
  const credential = await startAuthentication({ optionsJSON }).catch(throwConsoleError);
  await post('/sign-in/passkey', { credential }, { signIn: 'fail' });
}

/** Runs an action. If the server asks for it, the person confirms with their passkey first. */
export async function withConfirmation<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof ConsoleApiError) || error.code !== 'confirm_first') throw error;
    const optionsJSON = await post<PublicKeyCredentialRequestOptionsJSON>('/confirm/options');
    const { startAuthentication } = await loadWebAuthn();
    const credential = await startAuthentication({ optionsJSON }).catch(throwConsoleError);
    await post('/confirm', { credential });
    return action();
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
