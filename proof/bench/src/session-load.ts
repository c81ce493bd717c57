import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createScriptedEngine } from '@svc-asr/engine';
import type { AsrSession } from '@svc-asr/protocol';
import { createAccountWithKey } from '@svc-asr/local/account-with-key.ts';
import { generateSecrets, parseConfig } from '@svc-asr/server/config.ts';
import {
  createPool,
  isDatabaseUnavailable,
  type Pool,
} from '@svc-asr/server/platform/database/db.ts';
import { createLedger, type Ledger } from '@svc-asr/server/ledger/ledger.ts';
import { createLog } from '@svc-asr/server/platform/observe/log.ts';
import { startServer } from '@svc-asr/server/server.ts';
import { WIDE_LIMITS } from './wide-limits.ts';

/** Completed sessions and number of retries. */
export interface LoadTally {
  settled: number;
  retries: number;
}

export interface LoadClient {
  readonly accountId: string;
  readonly apiKey: string;
  /** The sum of the charges reported to this client. */
  consumedMs: number;
}

/** A charge as the client saw it. */
export interface Settled {
  readonly sessionId: string;
  readonly audioMs: number;
  /** When the close was first sent and when it was acknowledged, by the system clock. */
  readonly sentAtMs: number;
  readonly ackedAtMs: number;
}

export interface Load {
  readonly tally: LoadTally;
  readonly clients: readonly LoadClient[];
  /** Lets every client finish its session. */
  finish(): Promise<void>;
  stop(): Promise<void>;
}

const CREDIT_MS = 1_000_000_000;
const PATIENCE_MS = 90_000;

/**
 * Runs clients that create one session after another over HTTP, and a node that claims and closes them.
 */
export async function startSessionLoad(input: {
  databaseUrl: string;
  owner: Pool;
  clients: number;
  nodeEpoch: number;
  onSettled?: (client: LoadClient, settled: Settled) => void;
}): Promise<Load> {
  const config = parseConfig({
    ...generateSecrets(),
    PORT: '0',
    DATABASE_URL: input.databaseUrl,
    PUBLIC_STREAM_URL: 'wss://campaign.example/v1/asr/stream',
    NODE_ID: 'campaign-api',
    LOG_LEVEL: 'silent',
    ...WIDE_LIMITS,
  });
  const engine = createScriptedEngine({});
  const server = await startServer(config, { log: createLog({ level: 'silent' }), engine });
  const nodePool = createPool({ url: input.databaseUrl, role: 'svc_node' });
  const clients = await Promise.all(
    Array.from({ length: input.clients }, () =>
      createClient(input.owner, config.secrets.apiKeyPeppers[0].secret),
    ),
  );
  const tally: LoadTally = { settled: 0, retries: 0 };
  const stopped = new AbortController();
  const running = Promise.all(
    clients.map(async (client) => {
      const ledger = createLedger(nodePool);
      for (let round = 0; !stopped.signal.aborted; round += 1) {
        const seconds = 1 + (round % 20);
        const { nodeEpoch } = input;
        const settled = await oneSession({
          url: server.url,
          client,
          ledger,
          nodeEpoch,
          seconds,
          tally,
        });
        input.onSettled?.(client, settled);
      }
    }),
  );
  // finish() awaits it. Until then a failure must not end the process before the campaign reports it.
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

/** Counts the accounts whose charge in the database is lower, or higher, than the sum reported to the client. */
export async function compareCharges(
  owner: Pool,
  clients: readonly LoadClient[],
): Promise<{ lost: number; doubled: number }> {
  let lost = 0;
  let doubled = 0;
  for (const client of clients) {
    const balance = await createLedger(owner).balance(client.accountId);
    if (balance === null || balance.consumedMs < client.consumedMs) lost += 1;
    if (balance !== null && balance.consumedMs > client.consumedMs) doubled += 1;
    if (balance?.reservedMs !== 0) lost += 1;
  }
  return { lost, doubled };
}

async function createClient(owner: Pool, pepper: Buffer): Promise<LoadClient> {
  const { accountId, apiKey } = await createAccountWithKey(owner, {
    name: 'Load',
    creditMs: CREDIT_MS,
    pepper,
  });
  return { accountId, apiKey, consumedMs: 0 };
}

async function oneSession(input: {
  url: string;
  client: LoadClient;
  ledger: Ledger;
  nodeEpoch: number;
  seconds: number;
  tally: LoadTally;
}): Promise<Settled> {
  const { client, tally } = input;
  const session = await create(input);
  const named = {
    sessionId: session.id,
    accountId: client.accountId,
    nodeId: 'campaign',
    nodeEpoch: input.nodeEpoch,
    upgradeId: randomUUID(),
  };
  const claim = await retryUntilAvailable(tally, () => input.ledger.claim(named));
  if (claim.outcome !== 'claimed') throw new Error(`A claim returned ${claim.outcome}.`);
  const samples = input.seconds * 16_000 - 7;
  const sentAtMs = Date.now();
  await retryUntilAvailable(tally, () =>
    input.ledger.close({ ...named, status: 'completed', samples }),
  );
  const audioMs = input.seconds * 1000;
  client.consumedMs += audioMs;
  tally.settled += 1;
  return { sessionId: session.id, audioMs, sentAtMs, ackedAtMs: Date.now() };
}

/** Retries with the same Idempotency-Key until it gets a response, like an SDK. */
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
    // Any other response breaks the contract, above all a 429 for the client's own lost reservation.
    if (answer.status !== 503 || performance.now() > deadline) {
      throw new Error(`POST /v1/asr/sessions returned ${answer.status}: ${text}`);
    }
    input.tally.retries += 1;
    await delay(20);
  }
}

async function retryUntilAvailable<T>(tally: LoadTally, ask: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isPassing(error) || performance.now() > deadline) throw error;
      tally.retries += 1;
      await delay(20);
    }
  }
}

/** The database is unreachable, or busy: the first attempt may hold the row while its commit waits for a standby. */
function isPassing(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  return isDatabaseUnavailable(error) || code === '57014' || code === '55P03';
}
