import { SvcError, type SvcClient } from '@svc-asr/sdk';
import { adviceFor } from './advice.ts';

/**
 * Asks the service whether it accepts the key. Throws if it doesn't: every call would fail. Returns a warning if
 * the service can't be asked now, because calls may still work later.
 */
export async function checkKey(client: SvcClient): Promise<string | null> {
  try {
    await client.usage.get();
    return null;
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    const isRefused = error.status === 401 || error.status === 403;
    if (isRefused) throw new Error(`${error.message} ${adviceFor(error.code)}`, { cause: error });
    return `${error.message} Calls fail until the service answers.`;
  }
}
