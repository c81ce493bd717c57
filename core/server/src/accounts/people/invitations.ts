import { randomUUID } from 'node:crypto';
import type { ConsoleLanguage, Role } from '@svc-asr/protocol/console/console.ts';
import type { Queryable } from '../../platform/database/db.ts';
import { queryRows, statement, t } from '../../platform/database/statement.ts';
import { normaliseEmail } from './email-address.ts';

/** An invitation as the inviting account sees it. */
export interface SentInvitation {
  readonly id: string;
  readonly email: string;
  readonly role: Role;
  readonly status: 'pending' | 'declined';
  readonly createdAt: Date;
}

/** An invitation as the invited person sees it. */
export interface ReceivedInvitation {
  readonly id: string;
  readonly accountName: string;
  /** Null: the inviter's access has been deleted since. */
  readonly invitedBy: string | null;
  readonly role: Role;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

export type InviteOutcome =
  | 'invited'
  | 'already_member'
  | 'already_invited'
  | 'member_limit_reached'
  | 'invitation_limit_reached';

const INVITE = statement('select invite_member($1, $2, $3, $4, $5, $6) as outcome', {
  outcome: t.text<InviteOutcome>(),
});

/** Creates an invitation. console/email/queue.ts sends the email. */
export async function inviteMember(
  db: Queryable,
  input: {
    accountId: string;
    invitedBy: string;
    email: string;
    role: Role;
    language: ConsoleLanguage;
  },
): Promise<InviteOutcome> {
  const [row] = await queryRows(db, INVITE, [
    randomUUID(),
    input.accountId,
    input.invitedBy,
    normaliseEmail(input.email),
    input.role,
    input.language,
  ]);
  if (row === undefined) throw new Error('invite_member returned no row.');
  return row.outcome;
}

const LIST_SENT = statement(
  `select id, email, role, status, created_at from invitations
    where account_id = $1 and (status = 'declined'
      or (status = 'pending' and expires_at > clock_timestamp()))
    order by created_at limit 100`,
  {
    id: t.text(),
    email: t.text(),
    role: t.text<Role>(),
    status: t.text<SentInvitation['status']>(),
    created_at: t.timestamp(),
  },
);

/** Lists open and declined invitations, oldest first. Declined ones stay until the address can be invited again. */
export async function listSentInvitations(
  db: Queryable,
  accountId: string,
): Promise<SentInvitation[]> {
  const rows = await queryRows(db, LIST_SENT, [accountId]);
  return rows.map(({ created_at: createdAt, ...row }) => ({ ...row, createdAt }));
}

const LIST_RECEIVED = statement(
  `select i.id, a.name as account_name, inviter.email as invited_by, i.role, i.created_at,
      i.expires_at
    from console_users u join invitations i on i.email = u.email
      join accounts a on a.id = i.account_id
      left join console_users inviter on inviter.id = i.invited_by
    where u.id = $1 and i.status = 'pending' and i.expires_at > clock_timestamp()
    order by i.created_at limit 100`,
  {
    id: t.text(),
    account_name: t.text(),
    invited_by: t.nullable(t.text()),
    role: t.text<Role>(),
    created_at: t.timestamp(),
    expires_at: t.timestamp(),
  },
);

export async function listReceivedInvitations(
  db: Queryable,
  userId: string,
): Promise<ReceivedInvitation[]> {
  const rows = await queryRows(db, LIST_RECEIVED, [userId]);
  return rows.map((row) => ({
    id: row.id,
    accountName: row.account_name,
    invitedBy: row.invited_by,
    role: row.role,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  }));
}

const ACCEPT = statement('select accept_invitation($1, $2) as account_id', {
  account_id: t.nullable(t.text()),
});

/** Returns the joined account, or null when this person has no such open invitation. */
export async function acceptInvitation(
  db: Queryable,
  input: { userId: string; id: string },
): Promise<string | null> {
  const [row] = await queryRows(db, ACCEPT, [input.userId, input.id]);
  return row?.account_id ?? null;
}

const DECLINE = statement('select decline_invitation($1, $2) as declined', {
  declined: t.boolean(),
});

/** Declines an invitation. Deletes the person and their session if they have no account. Needs a transaction. */
export async function declineInvitation(
  db: Queryable,
  input: { userId: string; id: string },
): Promise<boolean> {
  const [row] = await queryRows(db, DECLINE, [input.userId, input.id]);
  if (row?.declined !== true) return false;
  await db.query('select forget_person($1)', [input.userId]);
  return true;
}

const WITHDRAW = statement('select withdraw_invitation($1, $2) as withdrawn', {
  withdrawn: t.boolean(),
});

export async function withdrawInvitation(
  db: Queryable,
  input: { accountId: string; id: string },
): Promise<boolean> {
  const [row] = await queryRows(db, WITHDRAW, [input.accountId, input.id]);
  return row?.withdrawn === true;
}
