import type { FastifyInstance } from 'fastify';
import type { ConsoleDeps } from '../deps.ts';
import { ConsoleError } from '../request/error.ts';

/** Shows the emails of a development server. Without CONSOLE_DEV_MAILBOX=1 this route doesn't exist. */
export function devMailboxRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  const emails = deps.mailer?.emails;
  if (emails === undefined) return;
  app.get('/dev/mailbox', async (request, reply) => {
    // A proxy in front means that other people can reach this machine.
    const { forwarded, via, 'x-forwarded-for': forwardedFor } = request.headers;
    if (forwarded ?? via ?? forwardedFor) throw new ConsoleError('not_found');
    void reply.type('text/plain; charset=utf-8');
    if (emails.length === 0) return 'No emails yet.\n';
    return emails
      .map(({ to, subject, text }) => `To: ${to}\nSubject: ${subject}\n\n${text}`)
      .join(`\n${'-'.repeat(72)}\n`);
  });
}
