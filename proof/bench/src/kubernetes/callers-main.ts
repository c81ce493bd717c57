import { readFile } from 'node:fs/promises';
import { createPool } from '@svc-asr/server/platform/database/db.ts';
import { createAccountWithKey } from '@svc-asr/local/account-with-key.ts';
import { keepAllCalling, type CallTally } from '../service/callers.ts';
import { numbers } from '../service/concurrency.ts';
import { setting } from './setting.ts';

/**
 * Callers for deploy/try/kubernetes: each streams one utterance after another through the services of the cluster until
 * SIGTERM. Prints a tally. Settings: API_URL, DATABASE_URL of the owner, API_KEY_PEPPER_FILE, NODE_EXTRA_CA_CERTS,
 * CALLERS, STREAM_SECONDS.
 */

const pepperText = await readFile(setting('API_KEY_PEPPER_FILE'), 'utf8');
const pepper = Buffer.from(pepperText.trim(), 'base64');
const pool = createPool({ url: setting('DATABASE_URL') });
const tenants = await Promise.all(
  numbers(Number(setting('CALLERS'))).map(() =>
    createAccountWithKey(pool, { name: 'Caller', creditMs: 36_000_000, pepper }),
  ),
);
await pool.end();

const stopping = new AbortController();
process.once('SIGTERM', () => stopping.abort());
const tally: CallTally = { streams: 0, cut: 0, retries: 0 };
process.stdout.write('calling\n');
await keepAllCalling(tenants, {
  api: [setting('API_URL')],
  ca: await readFile(setting('NODE_EXTRA_CA_CERTS')),
  streamMs: Number(setting('STREAM_SECONDS')) * 1_000,
  tally,
  signal: stopping.signal,
});
process.stdout.write(`${JSON.stringify(tally)}\n`);
