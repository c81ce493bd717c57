import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { SvcClient, SvcError, type RateLimit } from '@svc-asr/sdk';
import { UsageError } from './command.ts';

/** The service's address and the API key. Never read from the command line, which other users can see. */
export interface Settings {
  readonly baseUrl: string | undefined;
  readonly apiKey: string | undefined;
  readonly source: 'environment' | 'file' | 'nowhere';
}

function settingsPath(env: NodeJS.ProcessEnv): string {
  const folder = env['XDG_CONFIG_HOME'] || join(homedir(), '.config');
  return env['SVC_CONFIG'] || join(folder, 'svc', 'config.json');
}

export async function readSettings(env: NodeJS.ProcessEnv): Promise<Settings> {
  const file = await readFileSettings(settingsPath(env));
  const apiKey = env['SVC_API_KEY'] || file.apiKey;
  return {
    baseUrl: env['SVC_BASE_URL'] || file.baseUrl,
    apiKey,
    source: apiKey === undefined ? 'nowhere' : env['SVC_API_KEY'] ? 'environment' : 'file',
  };
}

export async function writeSettings(
  env: NodeJS.ProcessEnv,
  settings: { baseUrl: string; apiKey: string },
): Promise<string> {
  const path = settingsPath(env);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
  // writeFile applies the mode only to new files.
  await chmod(path, 0o600);
  return path;
}

interface ConnectOptions {
  readonly retriesMax?: number;
  readonly waitMsMax?: number;
  readonly needsKey?: boolean;
  readonly onRateLimit?: (limit: RateLimit) => void;
}

export async function openClient(
  env: NodeJS.ProcessEnv,
  options: ConnectOptions = {},
): Promise<SvcClient> {
  const { baseUrl, apiKey } = await readSettings(env);
  if (baseUrl === undefined) throw missing('address', 'SVC_BASE_URL');
  if (apiKey === undefined && options.needsKey !== false) throw missing('API key', 'SVC_API_KEY');
  return new SvcClient({
    baseUrl,
    ...(apiKey === undefined ? {} : { apiKey }),
    // Someone is waiting at the terminal.
    retriesMax: options.retriesMax ?? 3,
    ...(options.waitMsMax === undefined ? {} : { waitMsMax: options.waitMsMax }),
    ...(options.onRateLimit === undefined ? {} : { onRateLimit: options.onRateLimit }),
    allowInsecure: env['SVC_ALLOW_INSECURE'] === '1',
  });
}

function missing(what: string, variable: string): SvcError {
  return new SvcError({
    code: what === 'API key' ? 'missing_api_key' : 'missing_base_url',
    message: `No ${what}. Run \`svc login\`, or set ${variable}.`,
    retryable: false,
  });
}

async function readFileSettings(path: string): Promise<{ baseUrl?: string; apiKey?: string }> {
  const info = await stat(path).catch(() => null);
  if (info === null) return {};
  if (process.platform !== 'win32' && (info.mode & 0o077) !== 0) {
    throw new UsageError(
      `${path} contains a key and is readable by others. Run: chmod 600 ${path}`,
    );
  }
  try {
    const value: unknown = JSON.parse(await readFile(path, 'utf8'));
    const fields = typeof value === 'object' && value !== null ? Object.entries(value) : [];
    return Object.fromEntries(fields.filter(([, field]) => typeof field === 'string'));
  } catch {
    throw new UsageError(`${path} is not valid JSON. Run \`svc login\` to replace it.`);
  }
}
