import { randomUUID } from 'node:crypto';
import type { ConsoleLanguage, Role } from '@svc-asr/protocol/console.ts';
import { inTransaction, type Pool, type Queryable } from '../db.ts';

/** A person who may sign in to the console of one account. */
export interface Member {
  readonly id: string;
  readonly accountId: string;
  readonly email: string;
  readonly role: Role;
  readonly language: ConsoleLanguage;
  readonly operator: boolean;
  readonly joined: boolean;
}

interface MemberRow {
  readonly id: string;
  readonly account_id: string;
  readonly email: string;
  readonly role: Role;
  readonly language: ConsoleLanguage;
  readonly is_operator: boolean;
  readonly joined: boolean;
}

const COLUMNS = `id, account_id, email, role, language, is_operator,
  first_sign_in_at is not null as joined`;

export async function findMemberByEmail(db: Queryable, email: string): Promise<Member | null> {
  const { rows } = await db.query<MemberRow>(
    `select ${COLUMNS} from console_users where lower(email) = lower($1)`,
    [email],
  );
  return rows[0] === undefined ? null : toMember(rows[0]);
}

/** Owners first, then by age. */
export async function listMembers(db: Queryable, accountId: string): Promise<Member[]> {
  const { rows } = await db.query<MemberRow>(
    `select ${COLUMNS} from console_users where account_id = $1
      order by role = 'member', created_at limit 100`,
    [accountId],
  );
  return rows.map(toMember);
}

/** The letter with the way in goes out by itself: a new member is one who was not welcomed yet. */
export async function inviteMember(
  pool: Pool,
  input: { accountId: string; email: string; role: Role; language: ConsoleLanguage; limit: number },
): Promise<'invited' | 'already_member' | 'member_limit_reached'> {
  return inTransaction(pool, async (db) => {
    const members = await lockMembers(db, input.accountId);
    if (members.length >= input.limit) return 'member_limit_reached';
    const { rowCount } = await db.query(
      `insert into console_users (id, account_id, email, role, language) values ($1, $2, $3, $4, $5)
        on conflict (lower(email)) do nothing`,
      [randomUUID(), input.accountId, input.email, input.role, input.language],
    );
    return rowCount === 1 ? 'invited' : 'already_member';
  });
}

/** Null removes. Two owners who demote each other at once leave one: the rows are locked first. */
export async function changeMember(
  pool: Pool,
  input: { accountId: string; memberId: string; role: Role | null },
): Promise<'changed' | 'not_found' | 'last_owner'> {
  return inTransaction(pool, async (db) => {
    const members = await lockMembers(db, input.accountId);
    const member = members.find((known) => known.id === input.memberId);
    if (member === undefined) return 'not_found';
    const owners = members.filter((known) => known.role === 'owner');
    const losesOwner = member.role === 'owner' && input.role !== 'owner';
    if (losesOwner && owners.length === 1) return 'last_owner';
    await (input.role === null
      ? db.query('delete from console_users where id = $1', [member.id])
      : db.query('update console_users set role = $2 where id = $1', [member.id, input.role]));
    return 'changed';
  });
}

async function lockMembers(
  db: Queryable,
  accountId: string,
): Promise<{ id: string; role: Role }[]> {
  // Serialises changes to one team without touching the account's row, which sessions are waiting
  // for.
  await db.query('select pg_advisory_xact_lock(hashtextextended($1, 1))', [accountId]);
  const { rows } = await db.query<{ id: string; role: Role }>(
    'select id, role from console_users where account_id = $1',
    [accountId],
  );
  return rows;
}

export async function setMemberLanguage(
  db: Queryable,
  input: { memberId: string; language: ConsoleLanguage },
): Promise<void> {
  await db.query('update console_users set language = $2 where id = $1', [
    input.memberId,
    input.language,
  ]);
}

function toMember(row: MemberRow): Member {
  return {
    id: row.id,
    accountId: row.account_id,
    email: row.email,
    role: row.role,
    language: row.language,
    operator: row.is_operator,
    joined: row.joined,
  };
}
