import { CONSOLE_LIMITS, type ConsoleLanguage, type Role } from '@svc-asr/protocol/console.ts';
import type { Queryable } from '../db.ts';
import { hashToken, newToken } from './tokens.ts';

/** Who is at the browser, asked of the database on every request: removing a member works at once. */
export interface SignedIn {
  readonly userId: string;
  readonly email: string;
  readonly role: Role;
  readonly language: ConsoleLanguage;
  readonly operator: boolean;
  readonly accountId: string;
  readonly accountName: string;
  readonly accountActive: boolean;
}

/** A new session for a person who has just proved who they are. The token is stored as a hash alone. */
export async function openSession(db: Queryable, userId: string): Promise<string> {
  const token = newToken();
  await db.query('delete from console_sessions where expires_at <= clock_timestamp()');
  await db.query(
    `insert into console_sessions (token_hash, user_id, expires_at)
      values ($1, $2, clock_timestamp() + $3 * interval '1 ms')`,
    [hashToken(token), userId, CONSOLE_LIMITS.sessionLifetimeMs],
  );
  return token;
}

export async function closeSession(db: Queryable, token: string): Promise<void> {
  await db.query('delete from console_sessions where token_hash = $1', [hashToken(token)]);
}

interface SignedInRow {
  readonly user_id: string;
  readonly email: string;
  readonly role: Role;
  readonly language: ConsoleLanguage;
  readonly is_operator: boolean;
  readonly account_id: string;
  readonly account_name: string;
  readonly account_active: boolean;
}

export async function findSession(db: Queryable, token: string): Promise<SignedIn | null> {
  const { rows } = await db.query<SignedInRow>({
    name: 'console_session',
    text: `select u.id as user_id, u.email, u.role, u.language, u.is_operator, u.account_id,
        a.name as account_name, a.status = 'active' as account_active
      from console_sessions s join console_users u on u.id = s.user_id
        join accounts a on a.id = u.account_id
      where s.token_hash = $1 and s.expires_at > clock_timestamp()`,
    values: [hashToken(token)],
  });
  const row = rows[0];
  if (row === undefined) return null;
  return {
    userId: row.user_id,
    email: row.email,
    role: row.role,
    language: row.language,
    operator: row.is_operator,
    accountId: row.account_id,
    accountName: row.account_name,
    accountActive: row.account_active,
  };
}
