import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';

/** What a process does: `all` is API, streaming node and sweeper in one. */
export const ROLES = ['all', 'api', 'node'] as const;
export type Role = (typeof ROLES)[number];

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** So many a minute, of which `burst` may come at once. */
export interface RatePolicy {
  readonly perMinute: number;
  readonly burst: number;
}

export interface SigningKey {
  /** 1 to 255: the byte that a credential names its key by. */
  readonly id: number;
  readonly secret: Buffer;
}

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface Config {
  readonly role: Role;
  readonly host: string;
  readonly port: number;
  readonly databaseUrl: string;
  readonly databasePoolSize: number;
  readonly nodeId: string;
  /** Where clients reach this node's streams. */
  readonly publicStreamUrl: string;
  readonly allowInsecureWs: boolean;
  /** Null: plain HTTP, for behind a proxy that speaks TLS. */
  readonly tls: CertificateFiles | null;
  /** How long streams may go on after a SIGTERM. */
  readonly drainMs: number;
  /** Where the manifests and weights of the models are. */
  readonly modelsDir: string;
  /** Null: as many as the machine's cores allow. */
  readonly engineChildren: number | null;
  readonly engineSlotsPerChild: number | null;
  /** Mixed into every API key's hash, so that a copy of the database alone verifies nothing. */
  readonly apiKeyPepper: Buffer;
  /** The first signs; all verify. */
  readonly signingKeys: readonly [SigningKey, ...SigningKey[]];
  /** How many proxies stand in front: so many addresses of X-Forwarded-For are believed. */
  readonly trustedProxies: number;
  readonly logLevel: LogLevel;
  /** Without it /metrics does not exist. */
  readonly metricsToken: string | null;
  readonly connectionsMax: number;
  /** Failures are free: an account with more of them within an hour gets nothing new for a while. */
  readonly failedSessionsPerHour: number;
  /** Where people reach the console; letters point there. */
  readonly publicUrl: string;
  /** Null: no letters, so nobody can sign in to the console. */
  readonly smtpUrl: string | null;
  readonly mailFrom: string;
  /** Letters can be read in the browser instead of being sent. For development alone. */
  readonly devMailbox: boolean;
  /** Where the console's playground may stream to, as Content-Security-Policy writes it. */
  readonly consoleStreamOrigins: string;
  readonly rates: {
    readonly sessions: RatePolicy;
    readonly usage: RatePolicy;
    readonly models: RatePolicy;
    readonly failedAuthentication: RatePolicy;
    readonly upgrades: RatePolicy;
    readonly consoleForms: RatePolicy;
  };
}

export type Environment = Readonly<Record<string, string | undefined>>;

export const SECRET_BYTES_MIN = 32;

/** The only reader of the environment. Names every problem at once. */
export function parseConfig(env: Environment): Config {
  const read = environmentReader(env);
  const allowInsecureWs = read.flag('ALLOW_INSECURE_WS');
  const config: Config = {
    role: read.oneOf('ROLE', ROLES, 'all'),
    host: read.text('HOST', '127.0.0.1'),
    port: read.integer('PORT', { fallback: 8080, min: 0, max: 65_535 }),
    databaseUrl: read.url('DATABASE_URL', ['postgres:', 'postgresql:']),
    databasePoolSize: read.integer('DATABASE_POOL_SIZE', { fallback: 10, min: 1, max: 500 }),
    nodeId: read.text('NODE_ID', hostname()),
    publicStreamUrl: read.url('PUBLIC_STREAM_URL', allowInsecureWs ? ['wss:', 'ws:'] : ['wss:']),
    allowInsecureWs,
    tls: read.certificateFiles(),
    drainMs: read.integer('DRAIN_SECONDS', { fallback: 330, min: 0, max: 3_600 }) * 1000,
    modelsDir: read.text('MODELS_DIR', fileURLToPath(new URL('../../models', import.meta.url))),
    engineChildren: read.optionalInteger('ENGINE_CHILDREN', { min: 1, max: 256 }),
    engineSlotsPerChild: read.optionalInteger('ENGINE_SLOTS_PER_CHILD', { min: 1, max: 10_000 }),
    apiKeyPepper: read.secret('API_KEY_PEPPER'),
    signingKeys: read.signingKeys('SESSION_SIGNING_KEYS'),
    trustedProxies: read.integer('TRUSTED_PROXIES', { fallback: 0, min: 0, max: 10 }),
    logLevel: read.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
    metricsToken: env['METRICS_TOKEN'] || null,
    connectionsMax: read.integer('CONNECTIONS_MAX', { fallback: 20_000, min: 1, max: 1_000_000 }),
    failedSessionsPerHour: read.integer('FAILED_SESSIONS_PER_HOUR', {
      fallback: 5,
      min: 1,
      max: 10_000_000,
    }),
    publicUrl: read.url('PUBLIC_URL', ['https:', 'http:'], 'http://localhost:8080'),
    smtpUrl: env['SMTP_URL'] ? read.url('SMTP_URL', ['smtp:', 'smtps:']) : null,
    mailFrom: read.text('MAIL_FROM', 'svc-asr <no-reply@localhost>'),
    devMailbox: read.devMailbox(),
    consoleStreamOrigins: read.text('CONSOLE_STREAM_ORIGINS', originOf(env['PUBLIC_STREAM_URL'])),
    rates: {
      sessions: read.rate('RATE_SESSIONS', { perMinute: 30, burst: 10 }),
      usage: read.rate('RATE_USAGE', { perMinute: 60, burst: 60 }),
      models: read.rate('RATE_MODELS', { perMinute: 120, burst: 120 }),
      failedAuthentication: read.rate('RATE_FAILED_AUTHENTICATION', { perMinute: 20, burst: 20 }),
      upgrades: read.rate('RATE_UPGRADES', { perMinute: 30, burst: 30 }),
      consoleForms: read.rate('RATE_CONSOLE_FORMS', { perMinute: 10, burst: 20 }),
    },
  };
  if (read.problems.length > 0) {
    throw new ConfigError(read.problems);
  }
  return Object.freeze(config);
}

export class ConfigError extends Error {
  constructor(problems: readonly string[]) {
    super(`Invalid configuration:\n  ${problems.join('\n  ')}\nSee docs/configuration.md.`);
    this.name = 'ConfigError';
  }
}

/** Every reader answers a usable value, so that one pass finds all the problems. */
function environmentReader(env: Environment) {
  const problems: string[] = [];

  function text(name: string, fallback: string): string {
    return env[name] || fallback;
  }
  function integer(name: string, rule: { fallback: number; min: number; max: number }): number {
    const value = Number(env[name] || rule.fallback);
    if (Number.isInteger(value) && value >= rule.min && value <= rule.max) return value;
    problems.push(`${name} must be a whole number from ${rule.min} to ${rule.max}`);
    return rule.fallback;
  }
  function optionalInteger(name: string, rule: { min: number; max: number }): number | null {
    return env[name] ? integer(name, { ...rule, fallback: rule.min }) : null;
  }
  function certificateFiles(): CertificateFiles | null {
    const certFile = env['TLS_CERT_FILE'];
    const keyFile = env['TLS_KEY_FILE'];
    if (certFile && keyFile) return { certFile, keyFile };
    if (certFile || keyFile) problems.push('TLS_CERT_FILE and TLS_KEY_FILE go together');
    return null;
  }
  function flag(name: string): boolean {
    const value = env[name] || '0';
    if (value !== '0' && value !== '1') problems.push(`${name} must be 0 or 1`);
    return value === '1';
  }
  /** Whoever can read it can sign in as anybody, so it exists only where nobody else can reach it. */
  function devMailbox(): boolean {
    const wanted = flag('CONSOLE_DEV_MAILBOX');
    const alone = ['127.0.0.1', '::1', 'localhost'].includes(text('HOST', '127.0.0.1'));
    if (wanted && (!alone || env['NODE_ENV'] === 'production')) {
      problems.push("CONSOLE_DEV_MAILBOX=1 is for HOST=127.0.0.1 on a developer's machine only");
    }
    return wanted;
  }
  function oneOf<T extends string>(name: string, values: readonly T[], fallback: T): T {
    const value = env[name] || fallback;
    const found = values.find((candidate) => candidate === value);
    if (found === undefined) problems.push(`${name} must be one of ${values.join(', ')}`);
    return found ?? fallback;
  }
  function url(name: string, protocols: readonly string[], fallback = ''): string {
    const value = env[name] || fallback;
    if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol)) {
      problems.push(`${name} must be an address that begins ${protocols.join('// or ')}//`);
    }
    return value;
  }
  function secret(name: string): Buffer {
    const value = Buffer.from(env[name] ?? '', 'base64');
    if (value.byteLength >= SECRET_BYTES_MIN) return value;
    problems.push(`${name} must be at least ${SECRET_BYTES_MIN} random bytes in base64`);
    return value;
  }
  function rate(name: string, fallback: RatePolicy): RatePolicy {
    const value = env[name];
    if (!value) return fallback;
    const match = /^([1-9]\d{0,6})(?:\/([1-9]\d{0,6}))?$/.exec(value);
    if (match !== null) {
      return { perMinute: Number(match[1]), burst: Number(match[2] ?? match[1]) };
    }
    problems.push(`${name} must be PER_MINUTE or PER_MINUTE/BURST, such as 30/10`);
    return fallback;
  }
  function signingKeys(name: string): [SigningKey, ...SigningKey[]] {
    const keys = (env[name] ?? '').split(',').map(parseSigningKey);
    const valid = keys.filter((key) => key !== null);
    const [first, ...rest] = valid;
    const ids = new Set(valid.map((key) => key.id));
    if (first !== undefined && valid.length === keys.length && ids.size === keys.length) {
      return [first, ...rest];
    }
    problems.push(
      `${name} must be ID:SECRET[,ID:SECRET...], each id once, from 1 to 255, ` +
        `each secret at least ${SECRET_BYTES_MIN} random bytes in base64`,
    );
    return [{ id: 1, secret: Buffer.alloc(SECRET_BYTES_MIN) }];
  }
  return {
    problems,
    text,
    integer,
    optionalInteger,
    certificateFiles,
    flag,
    devMailbox,
    oneOf,
    url,
    secret,
    rate,
    signingKeys,
  };
}

function originOf(address: string | undefined): string {
  return URL.canParse(address ?? '') ? new URL(address ?? '').origin : '';
}

function parseSigningKey(entry: string): SigningKey | null {
  const [id = '', secret = ''] = entry.split(':');
  const key = { id: Number(id), secret: Buffer.from(secret, 'base64') };
  const valid = Number.isInteger(key.id) && key.id >= 1 && key.id <= 255;
  return valid && key.secret.byteLength >= SECRET_BYTES_MIN ? key : null;
}

/** Fresh secrets in the form that the environment takes, for development and tests. */
export function generateSecrets(): { API_KEY_PEPPER: string; SESSION_SIGNING_KEYS: string } {
  return {
    API_KEY_PEPPER: randomBytes(SECRET_BYTES_MIN).toString('base64'),
    SESSION_SIGNING_KEYS: `1:${randomBytes(SECRET_BYTES_MIN).toString('base64')}`,
  };
}
