import type * as WebAuthn from '@simplewebauthn/browser';
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser';
import type { PasskeyList } from '@svc-asr/protocol/console.ts';
import { ConsoleApiError, post } from './api.ts';

/** Browsers without passkeys are not offered any. */
export function canUsePasskeys(): boolean {
  return typeof PublicKeyCredential === 'function';
}

/** Asks this device for a new passkey and leaves its public half with the server. */
export async function addPasskey(name: string): Promise<PasskeyList> {
  const optionsJSON = await post<PublicKeyCredentialCreationOptionsJSON>('/passkeys/options');
  const { startRegistration } = await library();
  const credential = await startRegistration({ optionsJSON }).catch(explain);
  return post<PasskeyList>('/passkeys', { name, credential });
}

export async function signInWithPasskey(): Promise<void> {
  const optionsJSON = await post<PublicKeyCredentialRequestOptionsJSON>('/sign-in/passkey/options');
  const { startAuthentication } = await library();
  const credential = await startAuthentication({ optionsJSON }).catch(explain);
  await post('/sign-in/passkey', { credential });
}

/** A few kilobytes that come when somebody reaches for a passkey. */
function library(): Promise<typeof WebAuthn> {
  return import('@simplewebauthn/browser').catch((cause: unknown) => {
    throw new ConsoleApiError({ code: 'offline', message: String(cause), requestId: null });
  });
}

/** What a device says when it does not sign, as one of the console's own sentences. */
function explain(error: unknown): never {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const code = name === 'InvalidStateError' ? 'passkey_known' : 'passkey_unused';
  throw new ConsoleApiError({ code, message, requestId: null });
}
