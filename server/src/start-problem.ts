import { inspect } from 'node:util';
import { ConfigError } from './config.ts';
import { isDatabaseAway } from './db.ts';

/** A role, function, table or column that the database does not have: its schema is not of this version. */
const OTHER_SCHEMA = new Set(['22023', '42883', '42P01', '42703']);
const NO_RIGHT = '42501';

/** Why a process did not start: what happened, and what to do where that is known. */
export function explainStart(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  const { message, code } = describe(error);
  if (isDatabaseAway(error)) {
    return `The database cannot be reached: ${message}. Check DATABASE_URL, or start it first.`;
  }
  if (OTHER_SCHEMA.has(code)) {
    return `The database is not at this version: ${message}. Run \`svc-admin migrate\` first.`;
  }
  if (code === NO_RIGHT) {
    return `The database refuses its user: ${message}. Grant the roles that docs/operations.md names.`;
  }
  if (code === 'EADDRINUSE') {
    return `${message}. Another program has this port: stop it, or set PORT to another.`;
  }
  return inspect(error);
}

function describe(error: unknown): { message: string; code: string } {
  if (!(error instanceof Error)) return { message: String(error), code: '' };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return { message: error.message, code };
}
