import { readFileSync } from 'node:fs';

/**
 * Settings that can be read from a file named by NAME_FILE. The environment of a process stays
 * readable in /proc for as long as it runs, to every process of the same user; a file doesn't.
 */
const SECRETS = [
  'DATABASE_URL',
  'CONSOLE_DATABASE_URL',
  'SIGN_IN_DATABASE_URL',
  'SWEEPER_DATABASE_URL',
  'API_KEY_PEPPER',
  'SESSION_SIGNING_KEYS',
  'SMTP_URL',
  'METRICS_TOKEN',
  'REDIS_URL',
] as const;

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the environment with the content of every NAME_FILE in place of NAME. */
export function readSecretFiles(env: Environment): Environment {
  const read = { ...env };
  for (const name of SECRETS) {
    const file = env[`${name}_FILE`];
    if (!file) continue;
    if (env[name]) throw new Error(`Set ${name} or ${name}_FILE, not both.`);
    try {
      read[name] = readFileSync(file, 'utf8').trim();
    } catch (cause) {
      throw new Error(`${name}_FILE cannot be read: ${file}`, { cause });
    }
  }
  return read;
}
