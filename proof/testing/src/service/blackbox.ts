import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setAccountStatus, setAllowedOrigins } from '@svc-asr/server/accounts/accounts.ts';
import { generateApiKey } from '@svc-asr/server/accounts/keys/format.ts';
import { revokeApiKey } from '@svc-asr/server/accounts/keys/api-keys.ts';
import type { Queryable } from '@svc-asr/server/platform/database/db.ts';
import { allowConnections } from '../postgres/allow-connections.ts';
import { runPython } from '../python.ts';
import {
  createAccountWithKey,
  createFundedAccount,
  createKey,
} from '@svc-asr/local/account-with-key.ts';
import { startOperator, type OperatorActions } from './blackbox-operator.ts';

const SCRIPT = resolve(import.meta.dirname, '../../../../core/server/test/blackbox/walk.py');
/** Three minutes of audio, the life of a credential and the loss of an engine node, on a busy machine. */
const TIMEOUT_MS = 300_000;
const CREDIT_MS = 60_000;
/** Each has its own account, because an account may have one session at a time. */
const FUNDED =
  'fields bodies idempotent stream credential frames early many contract alignment turns receipt upgrades outages closing engine expiry'.split(
    ' ',
  );
/** These send many sentences, or a long one. */
const RICH = ['flushes', 'offences', 'formats'];
const RICH_CREDIT_MS = 300_000;

export interface BlackboxReport {
  /** How many statements of the interface document were checked. */
  readonly statements: number;
  readonly deviations: readonly string[];
}

export interface WalkInput {
  readonly url: string;
  readonly certFile: string;
  readonly db: Queryable;
  readonly databaseUrl: string;
  readonly pepper: Buffer;
  /** Process ids of the recognisers. */
  readonly recognisers: () => readonly number[];
  /** Stops the engine node of a service that has one. The walk ends with it. */
  readonly stopEngine?: () => Promise<void>;
  /** Raw PCM that the recogniser turns into text. */
  readonly speech: Uint8Array;
  /** Also waits a minute for a credential to expire. */
  readonly withExpiry: boolean;
}

/** Walks the interface document with Python clients (core/server/test/blackbox) against a service that uses TLS. */
export async function walkInterface(input: WalkInput): Promise<BlackboxReport> {
  const folder = await mkdtemp(join(tmpdir(), 'blackbox-'));
  const { keys, suspendable } = await createKeys(input);
  const operator = await startOperator(actionsOf(input, suspendable));
  try {
    const speechFile = join(folder, 'speech.pcm');
    await writeFile(speechFile, input.speech);
    const env = {
      SVC_BASE_URL: input.url,
      SVC_CERT_FILE: input.certFile,
      SVC_SPEECH: speechFile,
      SVC_KEYS: JSON.stringify(keys),
      SVC_OPERATOR_URL: operator.url,
      SVC_EXPIRY: input.withExpiry ? '1' : '0',
      SVC_ENGINE_NODE: input.stopEngine === undefined ? '0' : '1',
    };
    const printed = await runPython('python', [SCRIPT], env, TIMEOUT_MS);
    return JSON.parse(printed);
  } finally {
    await operator.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

function actionsOf(
  input: Pick<WalkInput, 'db' | 'databaseUrl' | 'recognisers' | 'stopEngine'>,
  accountId: string,
): OperatorActions {
  const { db, databaseUrl, recognisers, stopEngine } = input;
  const signal = async (name: NodeJS.Signals) => {
    for (const pid of recognisers()) process.kill(pid, name);
  };
  return {
    suspend: () => setAccountStatus(db, { id: accountId, status: 'suspended' }),
    reinstate: () => setAccountStatus(db, { id: accountId, status: 'active' }),
    refuse_connections: () => allowConnections(databaseUrl, false),
    allow_connections: () => allowConnections(databaseUrl, true),
    pause_recognisers: () => signal('SIGSTOP'),
    resume_recognisers: () => signal('SIGCONT'),
    ...(stopEngine === undefined ? {} : { stop_engine: stopEngine }),
  };
}

async function createKeys(input: {
  db: Queryable;
  pepper: Buffer;
}): Promise<{ keys: Record<string, string>; suspendable: string }> {
  const { db, pepper } = input;
  const keys: Record<string, string> = {
    unknown: generateApiKey().key,
    malformed: 'svc_live_v1_x',
  };
  const add = async (name: string, creditMs: number) => {
    const tenant = await createAccountWithKey(db, { creditMs, pepper });
    keys[name] = tenant.apiKey;
    return tenant;
  };
  for (const name of FUNDED) await add(name, CREDIT_MS);
  for (const name of RICH) await add(name, RICH_CREDIT_MS);
  const { accountId: suspendable } = await add('suspended', CREDIT_MS);
  const { accountId: restricted } = await add('origins', CREDIT_MS);
  await setAllowedOrigins(db, { id: restricted, origins: ['https://app.example'] });
  await add('poor', 999);
  await add('short', 2_900);
  const inactive = await add('inactive', CREDIT_MS);
  await setAccountStatus(db, { id: inactive.accountId, status: 'suspended' });
  const revoked = await add('revoked', CREDIT_MS);
  await revokeApiKey(db, { accountId: revoked.accountId, id: revoked.keyId });
  const accountId = await createFundedAccount(db, { creditMs: CREDIT_MS });
  const limited = { scopes: ['svc-asr-dholuo-v1' as const] };
  const expired = { expiresAt: new Date(Date.now() - 1_000) };
  keys['dholuo_only'] = (await createKey(db, { accountId, pepper, rules: limited })).apiKey;
  keys['expired'] = (await createKey(db, { accountId, pepper, rules: expired })).apiKey;
  return { keys, suspendable };
}
