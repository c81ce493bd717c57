import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import {
  DEVICES,
  THREADS_PER_CHILD_MAX,
  type Device,
  addressProblem,
  isLoopback,
  parseOtlp,
  parseTlsFiles,
  type TlsFiles,
} from '@svc-asr/engine/core.ts';
import { LOG_LEVELS, type LogLevel } from './platform/log.ts';
import { parsePeppers, type Peppers } from './accounts/peppers.ts';
import { isLocalUrl, isSafeDatabaseUrl } from './platform/require-tls.ts';
import { isProxyEntry } from '@svc-asr/protocol/network.ts';
import type { RatePolicy } from './platform/rate-limit.ts';
import type { CertificateFiles } from './platform/tls.ts';

/** The role of a process. `all` is API, streaming node and sweeper in one. */
export const ROLES = ['all', 'api', 'node'] as const;
export type Role = (typeof ROLES)[number];

export interface SigningKey {
  /** 1 to 255: the byte that a credential names its key by. */
  readonly id: number;
  readonly secret: Buffer;
}

export interface Config {
  readonly role: Role;
  readonly host: string;
  readonly port: number;
  readonly databaseUrl: string;
  /** Logins of jobs that need other rights than the process itself. */
  readonly databaseUrls: {
    readonly console: string;
    readonly signIn: string;
    readonly sweeper: string;
  };
  readonly databasePoolSize: number;
  readonly nodeId: string;
  /** Public URL of this node's streams. */
  readonly publicStreamUrl: string;
  readonly allowInsecureWs: boolean;
  /** Null: plain HTTP, behind a proxy that terminates TLS. */
  readonly tls: CertificateFiles | null;
  /** How long streams may continue after SIGTERM. */
  readonly drainMs: number;
  /** Folder with the manifests and weights of the models. */
  readonly modelsDir: string;
  /** Null: as many as the machine's cores allow. */
  readonly engineChildren: number | null;
  readonly engineSlotsPerChild: number | null;
  readonly engineThreadsPerChild: number;
  readonly engineDevice: Device;
  /** Addresses of the engine nodes. Null: this process has its own recognisers. */
  readonly engineAddresses: string | null;
  /** Null: no TLS to the engine nodes. */
  readonly engineTls: TlsFiles | null;
  /** Streams per Riva or NIM server; null: the nodes are svc-engine and report their capacity. */
  readonly engineRivaCapacity: number | null;
  /** The user that recogniser processes run as. Null: the same as this process. */
  readonly engineUser: { readonly uid: number; readonly gid: number } | null;
  /** Memory for audio that can be replayed when a recogniser is lost. 0: such a loss ends its streams. */
  readonly engineReplayMb: number;
  /** Mixed into every API key's hash, so that a copy of the database alone verifies nothing. */
  readonly apiKeyPepper: Buffer;
  /** The first pepper hashes new keys. All of them verify. */
  readonly apiKeyPeppers: Peppers;
  /** The first key signs. All of them verify. */
  readonly signingKeys: readonly [SigningKey, ...SigningKey[]];
  /** Addresses and networks of proxies whose X-Forwarded-For is trusted. */
  readonly trustedProxies: readonly string[];
  readonly logLevel: LogLevel;
  /** Without it /metrics does not exist. */
  readonly metricsToken: string | null;
  /** Trace endpoint. Null: no traces. */
  readonly otlp: { readonly endpoint: string; readonly ratio: number } | null;
  readonly connectionsMax: number;
  /** HTTP connections of one address at once. Streams don't count. */
  readonly connectionsPerAddress: number;
  /** The operator is alerted when more sessions of one account fail within an hour. */
  readonly failedSessionsPerHour: number;
  /** Public URL of the console, used in emails. */
  readonly publicUrl: string;
  /** Null: no emails are sent, so nobody can sign in to the console. */
  readonly smtpUrl: string | null;
  readonly mailFrom: string;
  /** Contact for vulnerabilities, mailto: or https:. Null: there is no security.txt. */
  readonly securityContact: string | null;
  /** Shows emails in the browser instead of sending them. For development only. */
  readonly devMailbox: boolean;
  /** Sources that the playground may connect to, in Content-Security-Policy syntax. */
  readonly consoleStreamOrigins: string;
  /** Redis for shared rate limits. Null: each process counts for itself. */
  readonly redisUrl: string | null;
  readonly rates: {
    readonly sessions: RatePolicy;
    readonly usage: RatePolicy;
    readonly models: RatePolicy;
    readonly failedAuthentication: RatePolicy;
    readonly failedUpgrades: RatePolicy;
    readonly consoleForms: RatePolicy;
  };
}

export type Environment = Readonly<Record<string, string | undefined>>;

export const SECRET_BYTES_MIN = 32;

/** Reads the environment; nothing else does. Reports every problem at once. */
export function parseConfig(env: Environment): Config {
  const read = environmentReader(env);
  const allowInsecureWs = read.flag('ALLOW_INSECURE_WS');
  const peppers = read.peppers('API_KEY_PEPPER');
  const config: Config = {
    role: read.oneOf('ROLE', ROLES, 'all'),
    host: read.text('HOST', '127.0.0.1'),
    port: read.integer('PORT', { fallback: 8080, min: 0, max: 65_535 }),
    databaseUrl: read.databaseUrl('DATABASE_URL'),
    databaseUrls: {
      console: read.databaseUrl('CONSOLE_DATABASE_URL', env['DATABASE_URL']),
      signIn: read.databaseUrl('SIGN_IN_DATABASE_URL', env['DATABASE_URL']),
      sweeper: read.databaseUrl('SWEEPER_DATABASE_URL', env['DATABASE_URL']),
    },
    databasePoolSize: read.integer('DATABASE_POOL_SIZE', { fallback: 10, min: 1, max: 500 }),
    nodeId: read.text('NODE_ID', hostname()),
    publicStreamUrl: read.url('PUBLIC_STREAM_URL', allowInsecureWs ? ['wss:', 'ws:'] : ['wss:']),
    allowInsecureWs,
    tls: read.certificateFiles(),
    drainMs: read.integer('DRAIN_SECONDS', { fallback: 330, min: 0, max: 3_600 }) * 1000,
    modelsDir: read.text('MODELS_DIR', fileURLToPath(new URL('../../models', import.meta.url))),
    engineChildren: read.optionalInteger('ENGINE_CHILDREN', { min: 1, max: 256 }),
    engineSlotsPerChild: read.optionalInteger('ENGINE_SLOTS_PER_CHILD', { min: 1, max: 10_000 }),
    engineThreadsPerChild: read.integer('ENGINE_THREADS_PER_CHILD', {
      fallback: 1,
      min: 1,
      max: THREADS_PER_CHILD_MAX,
    }),
    engineDevice: read.oneOf('ENGINE_DEVICE', DEVICES, 'cpu'),
    engineAddresses: read.engineAddresses(),
    engineTls: parseTlsFiles(env, read.problems),
    engineRivaCapacity: read.optionalInteger('ENGINE_RIVA_CAPACITY', { min: 1, max: 100_000 }),
    engineUser: read.user('ENGINE_USER'),
    engineReplayMb: read.integer('ENGINE_REPLAY_MB', { fallback: 512, min: 0, max: 65_536 }),
    apiKeyPepper: peppers[0].secret,
    apiKeyPeppers: peppers,
    signingKeys: read.signingKeys('SESSION_SIGNING_KEYS'),
    trustedProxies: read.proxies('TRUSTED_PROXIES'),
    logLevel: read.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
    metricsToken: env['METRICS_TOKEN'] || null,
    otlp: parseOtlp(env, read.problems),
    connectionsMax: read.integer('CONNECTIONS_MAX', { fallback: 20_000, min: 1, max: 1_000_000 }),
    connectionsPerAddress: read.integer('CONNECTIONS_PER_ADDRESS', {
      fallback: 256,
      min: 1,
      max: 1_000_000,
    }),
    failedSessionsPerHour: read.integer('FAILED_SESSIONS_PER_HOUR', {
      fallback: 5,
      min: 1,
      max: 10_000_000,
    }),
    publicUrl: read.url('PUBLIC_URL', ['https:', 'http:'], 'http://localhost:8080'),
    smtpUrl: env['SMTP_URL'] ? read.url('SMTP_URL', ['smtp:', 'smtps:']) : null,
    securityContact: env['SECURITY_CONTACT']
      ? read.url('SECURITY_CONTACT', ['mailto:', 'https:'])
      : null,
    mailFrom: read.text('MAIL_FROM', 'svc-asr <no-reply@localhost>'),
    devMailbox: read.devMailbox(),
    consoleStreamOrigins: read.text('CONSOLE_STREAM_ORIGINS', originOf(env['PUBLIC_STREAM_URL'])),
    redisUrl: read.redisUrl(),
    rates: {
      sessions: read.rate('RATE_SESSIONS', { perMinute: 30, burst: 10 }),
      usage: read.rate('RATE_USAGE', { perMinute: 60, burst: 60 }),
      models: read.rate('RATE_MODELS', { perMinute: 120, burst: 120 }),
      failedAuthentication: read.rate('RATE_FAILED_AUTHENTICATION', { perMinute: 20, burst: 20 }),
      failedUpgrades: read.rate('RATE_FAILED_UPGRADES', { perMinute: 30, burst: 30 }),
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

/** Every parser returns a usable value, so that one pass finds all problems. */
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
    if (certFile || keyFile) problems.push('TLS_CERT_FILE and TLS_KEY_FILE must be set together');
    return null;
  }
  function engineAddresses(): string | null {
    const addresses = env['ENGINE_ADDRESSES'];
    if (!addresses) return null;
    const problem = addressProblem(addresses);
    if (problem !== null) problems.push(`ENGINE_ADDRESSES ${problem}`);
    const hasTls = Boolean(env['ENGINE_TLS_CERT_FILE']);
    if (!hasTls && !isLoopback(addresses) && env['ENGINE_INSECURE'] !== '1') {
      problems.push(
        'ENGINE_ADDRESSES beyond this machine needs ENGINE_TLS_*_FILE (or ENGINE_INSECURE=1)',
      );
    }
    return addresses;
  }
  function flag(name: string): boolean {
    const value = env[name] || '0';
    if (value !== '0' && value !== '1') problems.push(`${name} must be 0 or 1`);
    return value === '1';
  }
  /** Anyone who can read this mailbox can sign in as anyone, so it is allowed only on a loopback address. */
  function devMailbox(): boolean {
    const wanted = flag('CONSOLE_DEV_MAILBOX');
    const local =
      ['127.0.0.1', '::1', 'localhost'].includes(text('HOST', '127.0.0.1')) &&
      [env['PUBLIC_URL'], env['PUBLIC_STREAM_URL']].every((url) => !url || isLocalUrl(url)) &&
      !env['TRUSTED_PROXIES'];
    if (wanted && (!local || env['NODE_ENV'] === 'production')) {
      problems.push(
        "CONSOLE_DEV_MAILBOX=1 is for a developer's own machine: HOST, PUBLIC_URL and " +
          'PUBLIC_STREAM_URL must be local, and no proxy may be configured',
      );
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
      problems.push(`${name} must be a URL that begins with ${protocols.join('// or ')}//`);
    }
    return value;
  }
  function user(name: string): { uid: number; gid: number } | null {
    const value = env[name];
    if (!value) return null;
    const [, uid, gid] = /^(\d{1,9}):(\d{1,9})$/.exec(value) ?? [];
    if (uid === undefined) problems.push(`${name} must be UID:GID, such as 990:990`);
    return { uid: Number(uid), gid: Number(gid) };
  }
  function databaseUrl(name: string, fallback = ''): string {
    const value = url(name, ['postgres:', 'postgresql:'], fallback);
    if (URL.canParse(value) && !isSafeDatabaseUrl(value)) {
      problems.push(`${name} must use TLS beyond this machine: add ?sslmode=verify-full`);
    }
    return value;
  }
  function proxies(name: string): string[] {
    const entries = (env[name] ?? '').split(',').map((entry) => entry.trim());
    const named = entries.filter(Boolean);
    if (named.every(isProxyEntry)) return named;
    problems.push(
      `${name} must be the addresses or networks of your proxies, such as 10.0.0.0/8,192.0.2.7`,
    );
    return [];
  }
  function redisUrl(): string | null {
    const value = env['REDIS_URL'];
    if (!value) return null;
    url('REDIS_URL', ['redis:', 'rediss:']);
    if (value.startsWith('redis:') && !isLocalUrl(value)) {
      problems.push('REDIS_URL must use TLS beyond this machine: rediss://');
    }
    return value;
  }
  function peppers(name: string): Peppers {
    const parsed = parsePeppers(env[name] ?? '');
    if (parsed !== null) return parsed;
    problems.push(
      `${name} must be SECRET or ID:SECRET[,ID:SECRET...], each id once, from 0 to 255, ` +
        `each secret at least ${SECRET_BYTES_MIN} random bytes in base64`,
    );
    return [{ id: 0, secret: Buffer.alloc(SECRET_BYTES_MIN) }];
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
    engineAddresses,
    flag,
    devMailbox,
    oneOf,
    url,
    databaseUrl,
    user,
    proxies,
    redisUrl,
    peppers,
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

/** Generates secrets as environment variables, for development and tests. */
export function generateSecrets(): { API_KEY_PEPPER: string; SESSION_SIGNING_KEYS: string } {
  return {
    API_KEY_PEPPER: randomBytes(SECRET_BYTES_MIN).toString('base64'),
    SESSION_SIGNING_KEYS: `1:${randomBytes(SECRET_BYTES_MIN).toString('base64')}`,
  };
}
