import { InvalidArgumentError } from 'commander';
import { findAccount, listAccountIds, type Account } from '../accounts/accounts.ts';
import { listSessionIds } from '../ledger/reports/history.ts';
import type { Queryable } from '../platform/database/db.ts';
import { Problem } from './problem.ts';

const SHORT_ID = /^[0-9a-f]{4,8}(?:$|-[0-9a-f-]{0,27}$)/i;
const EMPTY_ID = '00000000-0000-0000-0000-000000000000';

/** Parses a UUID or its first characters, at least four. */
export function parseShortId(text: string): string {
  if (text.length <= EMPTY_ID.length && SHORT_ID.test(text) && hasHyphens(text)) {
    return text.toLowerCase();
  }
  throw new InvalidArgumentError(
    'It must be a UUID or its first characters, at least four. `svc-admin accounts list` shows account ids.',
  );
}

const ID_ARGUMENT = ['its id, or the first characters of it', parseShortId] as const;
export const ACCOUNT_ARGUMENT = ['<account>', ...ID_ARGUMENT] as const;
export const SESSION_ARGUMENT = ['<session>', ...ID_ARGUMENT] as const;

/** Finds the account whose id begins with this text. Throws unless there is exactly one. */
export async function accountOf(db: Queryable, shortId: string): Promise<Account> {
  const id = onlyMatch(shortId, await listAccountIds(db, rangeOf(shortId)), 'account');
  const account = await findAccount(db, id);
  if (account === null) throw new Problem(`There is no account ${id}.`);
  return account;
}

/** Finds the session whose id begins with this text. Throws unless there is exactly one. */
export async function sessionOf(db: Queryable, shortId: string): Promise<string> {
  return onlyMatch(shortId, await listSessionIds(db, rangeOf(shortId)), 'session');
}

function onlyMatch(shortId: string, ids: readonly string[], kind: 'account' | 'session'): string {
  const [id, second] = ids;
  if (id === undefined) {
    throw new Problem(`There is no ${kind} ${shortId}. See \`svc-admin ${kind}s list\`.`);
  }
  if (second === undefined) return id;
  throw new Problem(`Several ${kind}s begin with ${shortId}. Give more characters of the id.`);
}

/** The range of ids that begin with this text. */
function rangeOf(shortId: string): { from: string; to: string } {
  const rest = EMPTY_ID.slice(shortId.length);
  return { from: shortId + rest, to: shortId + rest.replaceAll('0', 'f') };
}

/** Whether the hyphens are where a UUID has them. */
function hasHyphens(text: string): boolean {
  return text.split('').every((character, at) => (character === '-') === (EMPTY_ID[at] === '-'));
}
