import { randomBytes } from 'node:crypto';
import { parsePeppers, type Peppers } from '../accounts/keys/peppers.ts';
import {
  parseNumberedSecrets,
  SECRET_BYTES_MIN,
  type NumberedSecrets,
} from '../platform/numbered-secrets.ts';
import type { EnvironmentReader } from '@svc-asr/runtime/environment.ts';

export interface SecretsConfig {
  readonly apiKeyPeppers: Peppers;
  /** The first key signs. All of them verify. The id of a key is the byte that a credential names it by. */
  readonly signingKeys: NumberedSecrets;
  /** Without it /metrics does not exist. */
  readonly metricsToken: string | null;
}

const NO_SECRET = Buffer.alloc(SECRET_BYTES_MIN);
const LONG_ENOUGH = `each secret at least ${SECRET_BYTES_MIN} random bytes in base64`;

export function readSecretsConfig({ env, problems }: EnvironmentReader): SecretsConfig {
  const apiKeyPeppers = parsePeppers(env['API_KEY_PEPPER'] ?? '');
  if (apiKeyPeppers === null) {
    problems.push(
      'API_KEY_PEPPER must be SECRET or ID:SECRET[,ID:SECRET...], each id once, from 0 to 255, ' +
        LONG_ENOUGH,
    );
  }
  const signingKeys = parseNumberedSecrets(env['SESSION_SIGNING_KEYS'] ?? '', {
    idMin: 1,
    split: (entry) => entry.split(':'),
  });
  if (signingKeys === null) {
    problems.push(
      'SESSION_SIGNING_KEYS must be ID:SECRET[,ID:SECRET...], each id once, from 1 to 255, ' +
        LONG_ENOUGH,
    );
  }
  return {
    apiKeyPeppers: apiKeyPeppers ?? [{ id: 0, secret: NO_SECRET }],
    signingKeys: signingKeys ?? [{ id: 1, secret: NO_SECRET }],
    metricsToken: env['METRICS_TOKEN'] || null,
  };
}

/** Generates secrets as environment variables, for development and tests. */
export function generateSecrets(): { API_KEY_PEPPER: string; SESSION_SIGNING_KEYS: string } {
  return {
    API_KEY_PEPPER: randomBytes(SECRET_BYTES_MIN).toString('base64'),
    SESSION_SIGNING_KEYS: `1:${randomBytes(SECRET_BYTES_MIN).toString('base64')}`,
  };
}
