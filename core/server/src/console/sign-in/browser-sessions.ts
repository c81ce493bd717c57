import type { ConsoleLanguage, Device, Role } from '@svc-asr/protocol/console/console.ts';
import type { Queryable } from '../../platform/database/db.ts';
import { clientName, systemName } from '../../platform/network/client-name.ts';
import { queryRows, statement, t } from '../../platform/database/statement.ts';
import { hashToken, newToken } from './tokens.ts';

/** The person behind a request. Read from the database every time, so removing a member takes effect at once. */
export interface SignedIn {
  readonly userId: string;
  readonly email: string;
  readonly language: ConsoleLanguage;
  readonly operator: boolean;
  readonly verifiedBy: 'code' | 'passkey';
  /** Null: they belong to no account. */
  readonly account: CurrentAccount | null;
}

export interface CurrentAccount {
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
  readonly role: Role;
}

/** Opens a session for a person who has just proved their identity, in the first of their accounts. */
export async function openSession(
  db: Queryable,
  input: { userId: string; verifiedBy: SignedIn['verifiedBy']; userAgent: string | undefined },
): Promise<string> {
  const token = newToken();
  await db.query('select open_console_session($1, $2, $3, $4, $5)', [
    hashToken(token),
    input.userId,
    input.verifiedBy,
    clientName(input.userAgent),
    systemName(input.userAgent),
  ]);
  return token;
}

export async function closeSession(db: Queryable, token: string): Promise<void> {
  await db.query('select close_console_session($1)', [token]);
}

/** Signs the person out in every browser. */
export async function closeEverySession(db: Queryable, token: string): Promise<void> {
  await db.query('select close_console_sessions($1)', [token]);
}

const LIST = statement('select * from list_console_sessions($1)', {
  id: t.text(),
  client: t.nullable(t.text()),
  system: t.nullable(t.text()),
  verified_by: t.text<SignedIn['verifiedBy']>(),
  created_at: t.timestamp(),
  last_seen_at: t.timestamp(),
  is_current: t.boolean(),
});

/** Where this person is signed in, this browser first. */
export async function listSessions(db: Queryable, token: string): Promise<Device[]> {
  const rows = await queryRows(db, LIST, [token]);
  return rows.map((row) => ({
    id: row.id,
    client: row.client,
    system: row.system,
    verified_by: row.verified_by,
    signed_in_at: row.created_at.toISOString(),
    last_seen_at: row.last_seen_at.toISOString(),
    current: row.is_current,
  }));
}

const CLOSE_OTHER = statement('select close_other_console_session($1, $2) as closed', {
  closed: t.boolean(),
});

/** Ends one session of the same person. Returns whether there was one. */
export async function closeOtherSession(
  db: Queryable,
  input: { token: string; id: string },
): Promise<boolean> {
  const [row] = await queryRows(db, CLOSE_OTHER, [input.token, input.id]);
  return row?.closed === true;
}

const CONFIRM = statement('select confirm_console_session($1, $2) as confirmed', {
  confirmed: t.boolean(),
});

/** Records that the signed-in person has just used their passkey. */
export async function confirmSession(
  db: Queryable,
  input: { token: string; userId: string },
): Promise<boolean> {
  const [row] = await queryRows(db, CONFIRM, [input.token, input.userId]);
  return row?.confirmed === true;
}

/** Moves this browser to another account of the same person, or to none. */
export async function switchAccount(
  db: Queryable,
  input: { token: string; accountId: string | null },
): Promise<void> {
  await db.query('select switch_console_account($1, $2)', [input.token, input.accountId]);
}

const FIND = statement(
  'select * from find_console_session($1)',
  {
    user_id: t.text(),
    email: t.text(),
    language: t.text<ConsoleLanguage>(),
    is_operator: t.boolean(),
    verified_by: t.text<SignedIn['verifiedBy']>(),
    // Null for a person without an account, like every column below it.
    account_id: t.nullable(t.text()),
    account_name: t.text(),
    account_active: t.boolean(),
    role: t.text<Role>(),
  },
  { name: 'console_session' },
);

export async function findSession(db: Queryable, token: string): Promise<SignedIn | null> {
  const [row] = await queryRows(db, FIND, [token]);
  if (row === undefined) return null;
  return {
    userId: row.user_id,
    email: row.email,
    language: row.language,
    operator: row.is_operator,
    verifiedBy: row.verified_by,
    account:
      row.account_id === null
        ? null
        : {
            id: row.account_id,
            name: row.account_name,
            active: row.account_active,
            role: row.role,
          },
  };
}
