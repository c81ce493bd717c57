import type { ConsoleLanguage } from '@svc-asr/protocol/console.ts';
import { startPeriodic, type PeriodicTask } from '../platform/periodic.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { invitationEmail, welcomeEmail, type Email } from './emails.ts';
import type { Mailer } from './mailer.ts';
import { queryRows, statement, text, type Statement } from '../platform/statement.ts';

const BATCH = 20;
const EVERY_MS = 2_000;

const DUE_COLUMNS = { id: text(), email: text(), language: text<ConsoleLanguage>() };

/** The queue of unsent emails. Taking a batch postpones each row; sending an email completes it. */
interface Queue {
  readonly take: Statement<typeof DUE_COLUMNS>;
  readonly settle: string;
  readonly compose: (input: { to: string; language: ConsoleLanguage; publicUrl: string }) => Email;
}

/**
 * Two processes never send the same email, because taking a row postpones its next attempt. A refused
 * address is retried with backoff, down to once a day.
 */
const QUEUES: readonly Queue[] = [
  {
    take: statement(
      `update console_users u set welcome_tries = welcome_tries + 1,
        welcome_after = clock_timestamp() + least(30 * 2 ^ welcome_tries, 86400) * interval '1 second'
      from (
        select id from console_users where welcomed_at is null and welcome_after <= clock_timestamp()
        order by welcome_after limit $1 for update skip locked
      ) due
      where u.id = due.id
      returning u.id, u.email, u.language`,
      DUE_COLUMNS,
    ),
    settle: 'update console_users set welcomed_at = clock_timestamp() where id = $1',
    compose: welcomeEmail,
  },
  {
    take: statement(
      `update invitations i set email_tries = email_tries + 1,
        email_due_at = clock_timestamp() + least(30 * 2 ^ email_tries, 86400) * interval '1 second'
      from (
        select id from invitations where email_due_at <= clock_timestamp()
        order by email_due_at limit $1 for update skip locked
      ) due
      where i.id = due.id
      returning i.id, i.email, i.language`,
      DUE_COLUMNS,
    ),
    settle: 'update invitations set email_due_at = null where id = $1',
    compose: invitationEmail,
  },
];

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
  const { db, publicUrl } = deps;
  await db.query('select expire_invitations(), forget_audit_sources()');
  for (const { take, settle, compose } of QUEUES) {
    const rows = await queryRows(db, take, [BATCH]);
    for (const { id, email, language } of rows) {
      try {
        await mailer.send(compose({ to: email, language, publicUrl }));
        await db.query(settle, [id]);
      } catch (error) {
        deps.service.log.warn({ err: error }, 'An email was not sent. It will be retried.');
      }
    }
  }
}
