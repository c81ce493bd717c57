import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createScriptedEngine } from '@svc-asr/engine';
import type { AsrSession } from '@svc-asr/protocol';
import { createAccount } from '@svc-asr/server/accounts/accounts.ts';
import { insertApiKey } from '@svc-asr/server/accounts/api-keys.ts';
import { generateApiKey, hashApiKey } from '@svc-asr/server/api-key-format.ts';
import { generateSecrets, parseConfig } from '@svc-asr/server/config.ts';
import { createPool, isDatabaseAway, type Pool } from '@svc-asr/server/db.ts';
import { createLedger, type Ledger } from '@svc-asr/server/ledger/ledger.ts';
import { createLog } from '@svc-asr/server/log.ts';
import { startServer } from '@svc-asr/server/server.ts';

/** Sessions that were carried to their end, and how often somebody had to ask again. */
export interface LoadTally {
  settled: number;
  retries: number;
}

export interface LoadClient {
  readonly accountId: string;
  readonly apiKey: string;
  /** What this client believes it was charged. */
  consumedMs: number;
}

export interface Load {
  readonly tally: LoadTally;
  readonly clients: readonly LoadClient[];
  /** Lets every client end what it began. */
  finish(): Promise<void>;
  stop(): Promise<void>;
}

const CREDIT_MS = 1_000_000_000;
const PATIENCE_MS = 90_000;
const WIDE = '600000';

/**
 * Clients that create sessions over HTTP, one after another, and a node that claims and closes
 * them.
 */
export async function startLoad(input: {
  databaseUrl: string;
  owner: Pool;
  clients: number;
  nodeEpoch: number;
}): Promise<Load> {
  const config = parseConfig({
    ...generateSecrets(),
    PORT: '0',
    DATABASE_URL: input.databaseUrl,
    PUBLIC_STREAM_URL: 'wss://campaign.example/v1/asr/stream',
    NODE_ID: 'campaign-api',
    LOG_LEVEL: 'silent',
    RATE_SESSIONS: WIDE,
    FAILED_SESSIONS_PER_HOUR: WIDE,
    RATE_FAILED_AUTHENTICATION: WIDE,
  });
  const engine = createScriptedEngine({});
  const server = await startServer(config, { log: createLog({ level: 'silent' }), engine });
  const nodePool = createPool({ url: input.databaseUrl, role: 'svc_node' });
  const clients = await Promise.all(
    Array.from({ length: input.clients }, () => createClient(input.owner, config.apiKeyPepper)),
  );
  const tally: LoadTally = { settled: 0, retries: 0 };
  const stopped = new AbortController();
  const running = Promise.all(
    clients.map(async (client) => {
      const ledger = createLedger(nodePool);
      for (let round = 0; !stopped.signal.aborted; round += 1) {
        const seconds = 1 + (round % 20);
        const { nodeEpoch } = input;
        await oneSession({ url: server.url, client, ledger, nodeEpoch, seconds, tally });
      }
    }),
  );
  // It is awaited in finish; until then a failure must not end the process before the campaign can
  // say so.
  running.catch(() => {});
  return {
    tally,
    clients,
    async finish() {
      stopped.abort();
      await running;
    },
    async stop() {
      stopped.abort();
      await running.catch(() => {});
      await server.stop({ drainMs: 0 });
      await engine.close();
      await nodePool.end();
    },
  };
}

async function createClient(owner: Pool, pepper: Buffer): Promise<LoadClient> {
  const accountId = await createAccount(owner, { name: 'Load' });
  const { key, publicId } = generateApiKey();
  await insertApiKey(owner, { id: publicId, accountId, hmac: hashApiKey(key, pepper) });
  const credit = { ms: CREDIT_MS, reason: 'credit for the campaign', actor: 'campaign' };
  await createLedger(owner).grant({ ...credit, accountId, id: randomUUID() });
  return { accountId, apiKey: key, consumedMs: 0 };
}

async function oneSession(input: {
  url: string;
  client: LoadClient;
  ledger: Ledger;
  nodeEpoch: number;
  seconds: number;
  tally: LoadTally;
}): Promise<void> {
  const { client, tally } = input;
  const session = await create(input);
  const named = {
    sessionId: session.id,
    accountId: client.accountId,
    nodeId: 'campaign',
    nodeEpoch: input.nodeEpoch,
    attemptId: randomUUID(),
  };
  const claim = await patiently(tally, () => input.ledger.claim(named));
  if (claim.outcome !== 'claimed') throw new Error(`A claim was answered ${claim.outcome}.`);
  const samples = input.seconds * 16_000 - 7;
  await patiently(tally, () => input.ledger.close({ ...named, status: 'completed', samples }));
  client.consumedMs += input.seconds * 1000;
  tally.settled += 1;
}

/** As an SDK would: the same Idempotency-Key until there is an answer. */
async function create(input: {
  url: string;
  client: LoadClient;
  tally: LoadTally;
}): Promise<AsrSession> {
  const headers = {
    authorization: `Bearer ${input.client.apiKey}`,
    'content-type': 'application/json',
    'idempotency-key': randomUUID(),
  };
  const body = JSON.stringify({ model: 'svc-asr-kikuyu-v1' });
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const answer = await fetch(`${input.url}/v1/asr/sessions`, { method: 'POST', headers, body });
    const text = await answer.text();
    if (answer.status === 201) return JSON.parse(text);
    // Whatever else comes, a 429 for the client's own lost reservation above all, is a broken
    // promise.
    if (answer.status !== 503 || performance.now() > deadline) {
      throw new Error(`POST sessions was answered ${answer.status}: ${text}`);
    }
    input.tally.retries += 1;
    await delay(20);
  }
}

async function patiently<T>(tally: LoadTally, ask: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isDatabaseAway(error) || performance.now() > deadline) throw error;
      tally.retries += 1;
      await delay(20);
    }
  }
}
