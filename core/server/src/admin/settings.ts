import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parsePeppers, type Peppers } from '../accounts/keys/peppers.ts';
import { isSafeDatabaseUrl } from '../platform/network/require-tls.ts';
import { readSecretFiles } from '../platform/secret-files.ts';
import { EXIT, Problem } from './problem.ts';

export interface AdminSettings {
  readonly databaseUrl: string;
  /** Null: every command works except those that create keys. */
  readonly peppers: Peppers | null;
  /** The source of the settings, if it isn't the environment. */
  readonly note: string | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads the environment. Without DATABASE_URL, uses the database of a running `npm run dev` in
 * `devFolder`.
 */
export function readSettings(environment: Environment, devFolder: string): AdminSettings {
  const env = withSecretFiles(environment);
  const databaseUrl = env['DATABASE_URL'];
  if (databaseUrl) {
    if (!/^postgres(?:ql)?:\/\//.test(databaseUrl)) {
      throw new Problem('DATABASE_URL must begin postgres:// or postgresql://.', EXIT.usage);
    }
    if (!isSafeDatabaseUrl(databaseUrl)) {
      throw new Problem(
        'DATABASE_URL must use TLS beyond this machine: add ?sslmode=verify-full.',
        EXIT.usage,
      );
    }
    return { databaseUrl, peppers: readPeppers(env['API_KEY_PEPPER']), note: null };
  }
  const socket = devSocket(devFolder);
  if (socket === null) {
    throw new Problem(
      'DATABASE_URL is not set and `npm run dev` is not running here. Set DATABASE_URL to the ' +
        'database of the service, such as postgresql://operator@db.example/svc.',
      EXIT.usage,
    );
  }
  return {
    databaseUrl: `postgresql://postgres@localhost/postgres?host=${encodeURIComponent(socket)}`,
    peppers: readPeppers(env['API_KEY_PEPPER'] ?? devPepper(devFolder)),
    note: 'Using the database of `npm run dev`. Set DATABASE_URL to use another.',
  };
}

function withSecretFiles(env: Environment): Environment {
  try {
    return readSecretFiles(env);
  } catch (error) {
    throw new Problem(error instanceof Error ? error.message : String(error), EXIT.usage);
  }
}

function readPeppers(text: string | undefined): Peppers | null {
  if (!text) return null;
  const peppers = parsePeppers(text);
  if (peppers !== null) return peppers;
  throw new Problem(
    'API_KEY_PEPPER must be at least 32 random bytes in base64, as in the service.',
    EXIT.usage,
  );
}

/** The folder of the socket is on the fifth line of postmaster.pid. */
function devSocket(devFolder: string): string | null {
  const file = join(devFolder, 'postgres/postmaster.pid');
  if (!existsSync(file)) return null;
  return readFileSync(file, 'utf8').split('\n')[4] || null;
}

function devPepper(devFolder: string): string | undefined {
  const file = join(devFolder, 'kept.json');
  if (!existsSync(file)) return undefined;
  const kept: { secrets?: { API_KEY_PEPPER?: string } } = JSON.parse(readFileSync(file, 'utf8'));
  return kept.secrets?.API_KEY_PEPPER;
}
