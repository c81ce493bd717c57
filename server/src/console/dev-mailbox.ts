import type { FastifyInstance } from 'fastify';
import type { ConsoleDeps } from './console-deps.ts';

/** Reads the letters of a development server. Without CONSOLE_DEV_MAILBOX=1 there is no such address. */
export function devMailboxRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  const letters = deps.mailer?.letters;
  if (letters === undefined) return;
  app.get('/dev/mailbox', async (_request, reply) => {
    void reply.type('text/plain; charset=utf-8');
    if (letters.length === 0) return 'No letters yet.\n';
    return letters
      .map(({ to, subject, text }) => `To: ${to}\nSubject: ${subject}\n\n${text}`)
      .join(`\n${'-'.repeat(72)}\n`);
  });
}
