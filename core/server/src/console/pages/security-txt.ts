import type { FastifyInstance } from 'fastify';
import type { ConsoleConfig } from '../../config/console-config.ts';

/** RFC 9116 asks for less than a year. */
const VALID_MS = 180 * 24 * 3_600_000;

/** Tells researchers where to report a vulnerability. Without SECURITY_CONTACT this route doesn't exist. */
export function securityTxtRoute(app: FastifyInstance, config: ConsoleConfig): void {
  const { securityContact, publicUrl } = config;
  if (securityContact === null) return;
  const address = '/.well-known/security.txt';
  app.get(address, async (_request, reply) => {
    void reply.type('text/plain; charset=utf-8').header('cache-control', 'max-age=86400');
    return [
      `Contact: ${securityContact}`,
      `Expires: ${new Date(Date.now() + VALID_MS).toISOString()}`,
      `Canonical: ${new URL(address, publicUrl).href}`,
      'Preferred-Languages: en, sw',
      '',
    ].join('\n');
  });
}
