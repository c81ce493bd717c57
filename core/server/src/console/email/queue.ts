import type { ConsoleLanguage } from '@svc-asr/protocol/console/console.ts';
import { startPeriodic, type PeriodicTask } from '../../platform/periodic.ts';
import type { ConsoleDeps } from '../deps.ts';
import { creditRequestEmail, type CreditRequestNotice } from './credit-request-emails.ts';
import { creditEmail, invitationEmail, welcomeEmail, type Email, type LinkInput } from './texts.ts';
import type { Mailer } from './mailer.ts';
import { securityEmail, type NoticeKind } from './security-emails.ts';
import {
  queryRows,
  statement,
  t,
  type Row,
  type Statement,
} from '../../platform/database/statement.ts';

const BATCH = 20;
const EVERY_MS = 2_000;

const DUE_COLUMNS = { id: t.text(), email: t.text(), language: t.text<ConsoleLanguage>() };

/** The queue of unsent emails. Taking a batch postpones each row; sending an email completes it. */
interface Queue<C extends typeof DUE_COLUMNS> {
  readonly take: Statement<C>;
  readonly settle: string;
  readonly compose: (row: Row<C>, link: LinkInput) => Email;
}

/**
 * Two processes never send the same email, because taking a row postpones its next attempt. A refused
 * address is retried with backoff, down to once a day.
 */
const WELCOME_COLUMNS = { ...DUE_COLUMNS, credit_ms: t.number() };
const WELCOMES: Queue<typeof WELCOME_COLUMNS> = {
  take: statement(
    `update console_users u set welcome_tries = welcome_tries + 1,
        welcome_after = clock_timestamp() + least(30 * 2 ^ welcome_tries, 86400) * interval '1 second'
      from (
        select id from console_users where welcomed_at is null and welcome_after <= clock_timestamp()
        order by welcome_after limit $1 for update skip locked
      ) due
      where u.id = due.id
      returning u.id, u.email, u.language,
        (select coalesce(max(a.available_ms), 0) from memberships m join accounts a on a.id = m.account_id
          where m.user_id = u.id) as credit_ms`,
    WELCOME_COLUMNS,
  ),
  settle: 'update console_users set welcomed_at = clock_timestamp() where id = $1',
  compose: ({ credit_ms: creditMs }, link) => welcomeEmail({ ...link, creditMs }),
};

/** The rows of a table that are due, as `n`. */
function takeDue(table: string): string {
  return `update ${table} n set email_tries = email_tries + 1,
        email_due_at = clock_timestamp() + least(30 * 2 ^ email_tries, 86400) * interval '1 second'
      from (
        select id from ${table} where email_due_at <= clock_timestamp()
        order by email_due_at limit $1 for update skip locked
      ) due`;
}

const INVITATIONS: Queue<typeof DUE_COLUMNS> = {
  take: statement(
    `${takeDue('invitations')}
      where n.id = due.id
      returning n.id, n.email, n.language`,
    DUE_COLUMNS,
  ),
  settle: 'update invitations set email_due_at = null where id = $1',
  compose: (_row, link) => invitationEmail(link),
};

const NOTICE_COLUMNS = { ...DUE_COLUMNS, kind: t.text<NoticeKind>(), about: t.text() };
const NOTICES: Queue<typeof NOTICE_COLUMNS> = {
  take: statement(
    `${takeDue('security_notices')}, console_users u, console_users a
      where n.id = due.id and u.id = n.recipient and a.id = n.about
      returning n.id, u.email, u.language, n.kind, a.email as about`,
    NOTICE_COLUMNS,
  ),
  settle: 'delete from security_notices where id = $1',
  compose: ({ kind, about }, link) => securityEmail({ ...link, kind, about }),
};

const CREDIT_COLUMNS = {
  ...DUE_COLUMNS,
  level: t.number(),
  account: t.text(),
  left_ms: t.number(),
};
const CREDIT: Queue<typeof CREDIT_COLUMNS> = {
  take: statement(
    `${takeDue('credit_notices')}, console_users u, accounts a
      where n.id = due.id and u.id = n.recipient and a.id = n.account_id
      returning n.id, u.email, u.language, n.level, a.name as account, a.available_ms + a.reserved_ms as left_ms`,
    CREDIT_COLUMNS,
  ),
  settle: 'delete from credit_notices where id = $1',
  compose: ({ level, account, left_ms }, link) =>
    creditEmail({ ...link, level, account, leftMs: left_ms }),
};

const REQUEST_COLUMNS = {
  ...DUE_COLUMNS,
  kind: t.text<CreditRequestNotice>(),
  account: t.text(),
  requested_ms: t.number(),
  granted_ms: t.nullable(t.number()),
  reply: t.nullable(t.text()),
};
const CREDIT_REQUESTS: Queue<typeof REQUEST_COLUMNS> = {
  take: statement(
    `${takeDue('credit_request_notices')}, console_users u, credit_requests r, accounts a
      where n.id = due.id and u.id = n.recipient and r.id = n.request_id and a.id = r.account_id
      returning n.id, u.email, u.language, n.kind, a.name as account, r.requested_ms, r.granted_ms, r.reply`,
    REQUEST_COLUMNS,
  ),
  settle: 'delete from credit_request_notices where id = $1',
  compose: ({ kind, account, requested_ms, granted_ms, reply }, link) =>
    creditRequestEmail({
      ...link,
      kind,
      account,
      requestedMs: requested_ms,
      grantedMs: granted_ms ?? 0,
      reply: reply ?? '',
    }),
};

/** Polls for due emails until it is stopped. */
export function startEmailQueue(deps: ConsoleDeps): PeriodicTask {
  const { mailer } = deps;
  return startPeriodic({
    everyMs: EVERY_MS,
    log: deps.service.log,
    failure: 'Could not look for due emails.',
    run: async () => {
      if (mailer !== null) await sendDueEmails(deps, mailer);
    },
  });
}

async function sendDueEmails(deps: ConsoleDeps, mailer: Mailer): Promise<void> {
  await deps.db.query('select expire_invitations(), forget_audit_sources()');
  await sendQueue(deps, mailer, NOTICES);
  await sendQueue(deps, mailer, WELCOMES);
  await sendQueue(deps, mailer, INVITATIONS);
  await sendQueue(deps, mailer, CREDIT);
  await sendQueue(deps, mailer, CREDIT_REQUESTS);
}

async function sendQueue<C extends typeof DUE_COLUMNS>(
  { db, publicUrl, service }: ConsoleDeps,
  mailer: Mailer,
  { take, settle, compose }: Queue<C>,
): Promise<void> {
  for (const row of await queryRows(db, take, [BATCH])) {
    const { id, email: to, language }: Row<typeof DUE_COLUMNS> = row;
    try {
      await mailer.send(compose(row, { to, language, publicUrl }));
      await db.query(settle, [id]);
    } catch (error) {
      service.log.warn({ err: error }, 'An email was not sent. It will be retried.');
    }
  }
}
