import type { ConsoleLanguage } from '@svc-asr/protocol/console.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { welcomeLetter } from './letters.ts';

const BATCH = 20;
const EVERY_MS = 2_000;

/** Looks for people to welcome until it is stopped; one look at a time. */
export function startWelcoming(deps: ConsoleDeps): { stop(): Promise<void> } {
  const { log } = deps.service;
  let looking: Promise<unknown> = Promise.resolve();
  let busy = false;
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    looking = sendWelcomeLetters(deps)
      .catch((error: unknown) => log.warn({ err: error }, 'Could not look for new members.'))
      .finally(() => {
        busy = false;
      });
  }, EVERY_MS);
  return {
    async stop() {
      clearInterval(timer);
      await looking;
    },
  };
}

/**
 * Writes to everybody who was let in and has not been told, whichever process let them in. Taking a row puts its
 * next try off, so that two processes do not write twice and a refused address is tried ever more rarely.
 */
async function sendWelcomeLetters(deps: ConsoleDeps): Promise<void> {
  const { mailer, publicUrl } = deps;
  if (mailer === null) return;
  const { rows } = await deps.db.query<{ id: string; email: string; language: ConsoleLanguage }>(
    `update console_users u set welcome_tries = welcome_tries + 1,
        welcome_after = clock_timestamp() + least(30 * 2 ^ welcome_tries, 86400) * interval '1 second'
      from (
        select id from console_users where welcomed_at is null and welcome_after <= clock_timestamp()
        order by welcome_after limit $1 for update skip locked
      ) due
      where u.id = due.id
      returning u.id, u.email, u.language`,
    [BATCH],
  );
  for (const { id, email, language } of rows) {
    try {
      await mailer.send(welcomeLetter({ to: email, language, publicUrl }));
      await deps.db.query(
        'update console_users set welcomed_at = clock_timestamp() where id = $1',
        [id],
      );
    } catch (error) {
      deps.service.log.warn({ err: error }, 'A welcome letter was not sent; it is tried again.');
    }
  }
}
