import { inspect } from 'node:util';
import { ConfigError } from './config.ts';
import { isDatabaseUnavailable } from './platform/database/db.ts';

/** SQLSTATEs for a missing role, function, table or column: the schema is from another version. */
const OTHER_SCHEMA = new Set(['22023', '42883', '42P01', '42703']);
const NO_RIGHT = '42501';
/** SQLSTATEs for an unknown user, password or database. */
const NO_ENTRY = /^(?:28|3D)\w{3}$/;

/** Explains why a process did not start, and what to do if that is known. */
export function explainStart(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  const { message, code = '', syscall } = asErrno(error);
  if (syscall === 'open')
    return `${message}. Check the settings that name files, and the permissions of those files.`;
  if (syscall === 'listen') {
    return `${message}. Stop the process that uses this port, set PORT to another, or allow this user to bind it.`;
  }
  if (isDatabaseUnavailable(error)) {
    return `The database cannot be reached: ${message}. Check DATABASE_URL, or start it first.`;
  }
  if (NO_ENTRY.test(code)) {
    return `Database login failed: ${message}. Check DATABASE_URL.`;
  }
  if (OTHER_SCHEMA.has(code)) {
    return `The database is not at this version: ${message}. Run \`svc-admin migrate\` first.`;
  }
  if (code === NO_RIGHT) {
    return `The database user lacks a permission: ${message}. Grant the roles that docs/operations/install.md names.`;
  }
  return inspect(error);
}

function asErrno(error: unknown): NodeJS.ErrnoException {
  return error instanceof Error ? error : new Error(String(error));
}
