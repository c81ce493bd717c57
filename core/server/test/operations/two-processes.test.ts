import type { AsrSession } from '@svc-asr/protocol';
import { createAccountWithKey } from '@svc-asr/local/account-with-key.ts';
import { createTestDatabase, type TestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';
import { StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { MODELS_DIR } from '@svc-asr/testing/speech/fixtures.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { generateSecrets } from '../../src/config.ts';
import { findViolations } from '../../src/ledger/reports/audit.ts';

const ROUNDS = 10;
const RACERS = 16;

/** Two processes as in production, on one database. */
let database: TestDatabase;
let processes: ServiceProcess[];
const secrets = generateSecrets();
beforeAll(async () => {
  database = await createTestDatabase();
  const env = {
    ...secrets,
    PORT: '0',
    DATABASE_URL: database.url,
    PUBLIC_STREAM_URL: 'ws://placed.invalid',
    ALLOW_INSECURE_WS: '1',
    MODELS_DIR,
    ENGINE_CHILDREN: '1',
    RATE_FAILED_UPGRADES: '6000',
  };
  processes = await Promise.all(
    ['node-1', 'node-2'].map((id) => ServiceProcess.start({ ...env, NODE_ID: id })),
  );
});
afterAll(async () => {
  await Promise.all(processes.map((process) => process.stop()));
  await database.drop();
});

/** Runs as many calls at once as there are racers, half of them on each process. */
function race<T>(racers: number, run: (process: ServiceProcess) => Promise<T>): Promise<T[]> {
  return Promise.all(
    Array.from({ length: racers }, (_, at) => {
      const process = processes[at % processes.length];
      if (process === undefined) throw new Error('There is no process.');
      return run(process);
    }),
  );
}

async function newKey(): Promise<string> {
  const pepper = Buffer.from(secrets.API_KEY_PEPPER, 'base64');
  const owner = { name: 'Racer', creditMs: 3_600_000, pepper };
  return (await createAccountWithKey(database.pool, owner)).apiKey;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

async function reserve(url: string, apiKey: string, key?: string): Promise<Answer> {
  const answer = await fetch(`${url}/v1/asr/sessions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    body: JSON.stringify({ model: 'svc-asr-kikuyu-v1' }),
  });
  return { status: answer.status, body: await answer.text() };
}

/** Opens a stream and closes it again. A refusal with 503 doesn't spend the credential, so it is repeated. */
async function upgrade(process: ServiceProcess, session: AsrSession): Promise<string> {
  try {
    await (await StreamClient.open(session, { url: process.streamUrl })).close();
    return 'opened';
  } catch (error) {
    return String(error).includes(' 503') ? upgrade(process, session) : String(error);
  }
}

test('S18 W02 one of sixteen requests reserves, and one of sixteen upgrades opens its stream', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const apiKey = await newKey();
    const answers = await race(RACERS, ({ url }) => reserve(url, apiKey));
    const won = answers.filter(({ status }) => status === 201);
    expect([won.length, answers.filter(({ status }) => status === 429).length]).toEqual([1, 15]);
    const session: AsrSession = JSON.parse(won[0]?.body ?? '');
    const streams = await race(RACERS, (process) => upgrade(process, session));
    expect(streams.filter((stream) => stream === 'opened')).toHaveLength(1);
    expect(streams.filter((stream) => stream.includes(' 401'))).toHaveLength(RACERS - 1);
  }
  expect(await findViolations(database.pool)).toEqual([]);
});

test('S16 sixteen requests with one idempotency key get the same session', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const apiKey = await newKey();
    const answers = await race(RACERS, ({ url }) => reserve(url, apiKey, 'key'));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201));
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
  }
  expect(await findViolations(database.pool)).toEqual([]);
});
