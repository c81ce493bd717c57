import { callbackify } from 'node:util';
import {
  Client,
  Pool,
  types,
  type ClientBase,
  type ClientConfig,
  type CustomTypesConfig,
} from 'pg';

/** A pool, a client, or a client inside a transaction. */
export type Queryable = Pick<ClientBase, 'query'>;
export type { Client, Pool } from 'pg';

/** The database roles, one per job. Their rights are in server/sql/functions/90_grants.sql. */
export type DatabaseRole =
  | 'svc_api'
  | 'svc_node'
  | 'svc_sweeper'
  | 'svc_console'
  | 'svc_sign_in'
  | 'svc_auditor'
  | 'svc_operator'
  | 'svc_mover'
  | 'svc_all';

export interface ConnectOptions {
  readonly url: string;
  /** Taken right after connecting. Left out, the rights of the URL's own user hold. */
  readonly role?: DatabaseRole;
  readonly applicationName?: string;
  readonly connectTimeoutMs?: number;
  /**
   * How long a statement may run. Every statement of ours is short; one that is not has met a
   * fault.
   */
  readonly statementTimeoutMs?: number;
}

export interface PoolOptions extends ConnectOptions {
  readonly maxConnections?: number;
  /** Runs on every new connection before it is used. If it rejects, the query that needed the connection rejects too. */
  readonly verify?: (db: Queryable) => Promise<void>;
  /** Called when an idle connection breaks. The pool replaces it. */
  readonly onError?: (error: Error) => void;
}

const DEFAULTS = {
  maxConnections: 10,
  connectTimeoutMs: 2_000,
  statementTimeoutMs: 5_000,
  idleTimeoutMs: 30_000,
} as const;

// Milliseconds of audio are int8 in the ledger and far below 2^53: plain numbers here.
const numbers: CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === types.builtins.INT8 ? parseInt8 : types.getTypeParser(oid, format),
};

function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError('An int8 is too large for a number.');
  return value;
}

function clientConfig(options: ConnectOptions): ClientConfig {
  const statementTimeoutMs = options.statementTimeoutMs ?? DEFAULTS.statementTimeoutMs;
  const role = options.role === undefined ? '' : ` -c role=${options.role}`;
  return {
    connectionString: options.url,
    application_name: options.applicationName ?? 'svc-asr',
    connectionTimeoutMillis: options.connectTimeoutMs ?? DEFAULTS.connectTimeoutMs,
    // The server gives up first; the client's own limit is for a server that no longer answers at
    // all.
    query_timeout: statementTimeoutMs + 1_000,
    options:
      `-c statement_timeout=${statementTimeoutMs} -c lock_timeout=${statementTimeoutMs}` +
      ` -c idle_in_transaction_session_timeout=${statementTimeoutMs}${role}`,
    keepAlive: true,
    types: numbers,
  };
}

export function createPool(options: PoolOptions): Pool {
  const { verify } = options;
  const pool = new Pool({
    ...clientConfig(options),
    max: options.maxConnections ?? DEFAULTS.maxConnections,
    idleTimeoutMillis: DEFAULTS.idleTimeoutMs,
    allowExitOnIdle: false,
    ...(verify === undefined ? {} : { verify: callbackify(verify) }),
  });
  // Without a listener an idle connection that breaks ends the process, and so does one that breaks
  // while it is checked out: its statement has rejected by then, which is all the caller needs to
  // know.
  pool.on('error', (error) => options.onError?.(error));
  pool.on('connect', (client) => client.on('error', ignoreBrokenConnection));
  return pool;
}

/** Opens a single connection outside the pool, for migrations, listeners and campaigns. */
export async function connect(options: ConnectOptions): Promise<Client> {
  const client = new Client(clientConfig(options));
  client.on('error', ignoreBrokenConnection);
  await client.connect();
  return client;
}

function ignoreBrokenConnection(): void {}

/** All or nothing, on one connection. A connection that cannot even roll back is thrown away. */
export async function inTransaction<T>(
  pool: Pool,
  work: (db: Queryable) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => {
      broken = failure;
    });
    throw error;
  } finally {
    client.release(broken);
  }
}

/** The database answers, but this process must not use it. Waiting is right: another database may take its place. */
export class DatabaseRefused extends Error {}

const CONNECTION_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/**
 * The database is away, or went away while it was asked: the statement may or may not have
 * happened.
 */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof DatabaseRefused) return true;
  if (error instanceof AggregateError && error.errors.some(isDatabaseAway)) return true;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (CONNECTION_ERRORS.has(code)) return true;
  // The socket file of a server that is not running. Any other missing file is not about the database.
  if (code === 'ENOENT' && 'syscall' in error && error.syscall === 'connect') return true;
  // 08 connection exception, 57P0x shutdown, crash or start-up, 53 out of connections or memory,
  // 25006 read-only standby.
  if (/^(08|57P0|53)/.test(code) || code === '25006') return true;
  return /Connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable/.test(
    error.message,
  );
}
