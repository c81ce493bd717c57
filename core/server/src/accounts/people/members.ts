import type { ConsoleLanguage, Role } from '@svc-asr/protocol/console/console.ts';
import type { Queryable } from '../../platform/database/db.ts';
import { queryRows, statement, t, type RowOf } from '../../platform/database/statement.ts';
import { normaliseEmail } from './email-address.ts';

/** A person who can sign in. What they may do depends on the account they work in. */
export interface Person {
  readonly id: string;
  readonly email: string;
}

export interface Member extends Person {
  readonly role: Role;
}

/** An account as one of its members sees it. */
export interface Membership {
  readonly accountId: string;
  readonly accountName: string;
  readonly role: Role;
}

const FIND_PERSON = statement('select id, email from console_users where email = $1', {
  id: t.text(),
  email: t.text(),
});

export async function findPersonByEmail(db: Queryable, email: string): Promise<Person | null> {
  const [row] = await queryRows(db, FIND_PERSON, [normaliseEmail(email)]);
  return row ?? null;
}

const LIST_MEMBERS = statement(
  `select u.id, u.email, m.role from memberships m join console_users u on u.id = m.user_id
    where m.account_id = $1 order by m.role = 'member', m.joined_at limit 100`,
  { id: t.text(), email: t.text(), role: t.text<Role>() },
);

/** Owners first, then by age. */
export async function listMembers(db: Queryable, accountId: string): Promise<Member[]> {
  return queryRows(db, LIST_MEMBERS, [accountId]);
}

const LIST_MEMBERSHIPS = statement(
  `select m.account_id, a.name, m.role from memberships m join accounts a on a.id = m.account_id
    where m.user_id = $1 order by m.role = 'member', m.joined_at limit 100`,
  { account_id: t.text(), name: t.text(), role: t.text<Role>() },
);

/** The accounts of one person: their own first. The first is the one a new session opens. */
export async function listMemberships(db: Queryable, userId: string): Promise<Membership[]> {
  const rows = await queryRows(db, LIST_MEMBERSHIPS, [userId]);
  return rows.map((row) => ({
    accountId: row.account_id,
    accountName: row.name,
    role: row.role,
  }));
}

/** Adds a member without asking them. For the development server and tests, as the schema's owner. */
export async function addMember(
  db: Queryable,
  input: { accountId: string; email: string; role: Role; language: ConsoleLanguage },
): Promise<void> {
  await db.query(
    `insert into memberships (account_id, user_id, role)
      values ($1, ensure_person($2, $3), $4) on conflict do nothing`,
    [input.accountId, normaliseEmail(input.email), input.language, input.role],
  );
}

/**
 * Changes a role, or removes the member when `role` is null. An account keeps at least one owner, so
 * two owners who demote each other at the same time are serialised. Needs a transaction.
 */
export async function changeMember(
  db: Queryable,
  input: { accountId: string; memberId: string; role: Role | null },
): Promise<'changed' | 'not_found' | 'last_owner'> {
  const members = await lockMembers(db, input.accountId);
  const member = members.find((known) => known.user_id === input.memberId);
  if (member === undefined) return 'not_found';
  const owners = members.filter((known) => known.role === 'owner');
  const losesOwner = member.role === 'owner' && input.role !== 'owner';
  if (losesOwner && owners.length === 1) return 'last_owner';
  if (input.role === null) {
    await db.query('delete from memberships where account_id = $1 and user_id = $2', [
      input.accountId,
      input.memberId,
    ]);
    await db.query('select forget_person($1)', [input.memberId]);
  } else {
    await db.query('update memberships set role = $3 where account_id = $1 and user_id = $2', [
      input.accountId,
      input.memberId,
      input.role,
    ]);
  }
  return 'changed';
}

const ROLES = statement('select user_id, role from memberships where account_id = $1', {
  user_id: t.text(),
  role: t.text<Role>(),
});

async function lockMembers(db: Queryable, accountId: string): Promise<RowOf<typeof ROLES>[]> {
  // Serialises changes to one team without locking the account's row, which sessions wait for.
  await db.query('select pg_advisory_xact_lock(hashtextextended($1, 1))', [accountId]);
  return queryRows(db, ROLES, [accountId]);
}

export async function setPersonLanguage(
  db: Queryable,
  input: { userId: string; language: ConsoleLanguage },
): Promise<void> {
  await db.query('update console_users set language = $2 where id = $1', [
    input.userId,
    input.language,
  ]);
}
