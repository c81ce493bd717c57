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
export { DatabaseError, type Client, type Pool } from 'pg';

/** The database roles, one per job. Their rights are in core/server/sql/functions/90_grants.sql. */
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
  /** Assumed right after connecting. Default: the URL's own user. */
  readonly role?: DatabaseRole;
  readonly applicationName?: string;
  readonly connectTimeoutMs?: number;
  /**
   * How long a statement may run. All our statements are short, so a longer one has hit a fault.
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

// Milliseconds of audio are int8 in the ledger and far below 2^53, so they are parsed as numbers.
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
    // The server's timeout comes first. The client's own is for a server that doesn't answer at all.
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
  // Without a listener, a broken connection would crash the process, idle or checked out. A
  // checked-out one has already rejected its statement, so the caller knows.
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

/** Runs a transaction on one connection. A connection that fails to roll back is discarded. */
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

/**
 * The database answers, but this process must not use it. Callers should retry, because another
 * database may replace it.
 */
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
 * Whether the database is unavailable or the connection was lost. The statement may or may not have
 * been executed.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof DatabaseRefused) return true;
  if (error instanceof AggregateError && error.errors.some(isDatabaseUnavailable)) return true;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (CONNECTION_ERRORS.has(code)) return true;
  // The missing socket file of a stopped server. Other missing files are unrelated.
  if (code === 'ENOENT' && 'syscall' in error && error.syscall === 'connect') return true;
  // 08 connection exception, 57P0x shutdown, crash or start-up, 53 out of connections or memory,
  // 25006 read-only standby.
  if (/^(08|57P0|53)/.test(code) || code === '25006') return true;
  // The database exists and accepts no connections. Functions raise the same code for other reasons.
  if (code === '55000' && 'routine' in error && error.routine === 'CheckMyDatabase') return true;
  return /Connection terminated|timeout exceeded when trying to connect|Query read timeout|not queryable/.test(
    error.message,
  );
}

/** Whether a statement took too long: the database is overloaded, or another transaction holds a row. */
export function isStatementTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '57014';
}
