import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setAccountStatus } from '@svc-asr/server/accounts/accounts.ts';
import { generateApiKey } from '@svc-asr/server/accounts/api-key-format.ts';
import { revokeApiKey } from '@svc-asr/server/accounts/api-keys.ts';
import type { Config } from '@svc-asr/server/config.ts';
import type { Queryable } from '@svc-asr/server/platform/db.ts';
import { runPython } from '../python.ts';
import { createAccountWithKey, createFundedAccount, createKey } from './account-with-key.ts';

const SCRIPT = resolve(import.meta.dirname, '../../../server/test/blackbox/walk.py');
const CREDIT_MS = 60_000;
/** Each has its own account, because an account may have one session at a time. */
const FUNDED = 'fields bodies idempotent stream credential frames early many contract expiry'.split(
  ' ',
);

export interface BlackboxReport {
  /** How many statements of the interface document were checked. */
  readonly statements: number;
  readonly deviations: readonly string[];
}

/** Walks the interface document with Python clients (server/test/blackbox) against a service that uses TLS. */
export async function walkInterface(input: {
  readonly url: string;
  readonly certFile: string;
  readonly db: Queryable;
  readonly config: Pick<Config, 'apiKeyPepper'>;
  /** Raw PCM that the recogniser turns into text. */
  readonly speech: Uint8Array;
  /** Also waits a minute for a credential to expire. */
  readonly withExpiry: boolean;
}): Promise<BlackboxReport> {
  const folder = await mkdtemp(join(tmpdir(), 'blackbox-'));
  try {
    const speechFile = join(folder, 'speech.pcm');
    await writeFile(speechFile, input.speech);
    const printed = await runPython('python', [SCRIPT], {
      SVC_BASE_URL: input.url,
      SVC_CERT_FILE: input.certFile,
      SVC_SPEECH: speechFile,
      SVC_KEYS: JSON.stringify(await createKeys(input)),
      SVC_EXPIRY: input.withExpiry ? '1' : '0',
    });
    return JSON.parse(printed);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function createKeys(input: {
  db: Queryable;
  config: Pick<Config, 'apiKeyPepper'>;
}): Promise<Record<string, string>> {
  const { db, config } = input;
  const keys: Record<string, string> = {
    unknown: generateApiKey().key,
    malformed: 'svc_live_v1_x',
  };
  const add = async (name: string, creditMs: number) => {
    const tenant = await createAccountWithKey(db, { creditMs, config });
    keys[name] = tenant.apiKey;
    return tenant;
  };
  for (const name of FUNDED) await add(name, CREDIT_MS);
  await add('poor', 999);
  await add('short', 2_900);
  const inactive = await add('inactive', CREDIT_MS);
  await setAccountStatus(db, { id: inactive.accountId, status: 'suspended' });
  const revoked = await add('revoked', CREDIT_MS);
  await revokeApiKey(db, { accountId: revoked.accountId, id: revoked.keyId });
  const accountId = await createFundedAccount(db, { creditMs: CREDIT_MS });
  const limited = { scopes: ['svc-asr-dholuo-v1' as const] };
  const expired = { expiresAt: new Date(Date.now() - 1_000) };
  keys['dholuo_only'] = (await createKey(db, { accountId, config, rules: limited })).apiKey;
  keys['expired'] = (await createKey(db, { accountId, config, rules: expired })).apiKey;
  return keys;
}
