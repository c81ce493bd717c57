import { JoinWaitlist } from '@svc-asr/protocol/console/console.ts';
import type { FastifyInstance } from 'fastify';
import { joinWaitlist } from '../../accounts/waitlist.ts';
import type { ConsoleDeps } from '../deps.ts';
import { limitForms } from '../request/guard.ts';

/** The public page's form. The response doesn't reveal whether an address is already on the list. */
export function waitlistRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  app.post<{ Body: JoinWaitlist }>(
    '/waitlist',
    { onRequest: limitForms(deps), schema: { body: JoinWaitlist } },
    async (request, reply) => {
      const { email, use_case: purpose, language } = request.body;
      await joinWaitlist(deps.db, { email, name: '', purpose, language });
      void reply.code(202);
      return {};
    },
  );
}
