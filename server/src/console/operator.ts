import { randomUUID } from 'node:crypto';
import { Approve, type WaitlistPage } from '@svc-asr/protocol/console.ts';
import type { FastifyInstance } from 'fastify';
import { listWaitlist, type WaitlistEntry } from '../accounts/waitlist.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { ConsoleError } from './console-error.ts';
import { requireOperator, signedInOf } from './guard.ts';
import { idParam, type IdParam } from './id-param.ts';

const SHOWN = 100;

/** The waitlist, for operators. The database asks once more who decides. */
export function operatorRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  app.addHook('onRequest', requireOperator);

  app.get('/operator/waitlist', async (): Promise<WaitlistPage> => {
    const statuses = ['waiting', 'approved', 'declined'] as const;
    const lists = await Promise.all(
      statuses.map((status) => listWaitlist(deps.db, { status, limit: SHOWN })),
    );
    return { data: lists.flat().map(presentEntry) };
  });

  app.post<IdParam & { Body: { credit_minutes: number } }>(
    '/operator/waitlist/:id/approve',
    { schema: { params: idParam, body: Approve } },
    async (request) => {
      const { rows } = await deps.db.query<{ approved: boolean }>(
        'select approve_as_operator($1, $2, $3, $4) as approved',
        [
          signedInOf(request).userId,
          request.params.id,
          randomUUID(),
          request.body.credit_minutes * 60_000,
        ],
      );
      if (rows[0]?.approved !== true) throw new ConsoleError('not_found');
      return {};
    },
  );

  app.post<IdParam>(
    '/operator/waitlist/:id/decline',
    { schema: { params: idParam } },
    async (request) => {
      const { rows } = await deps.db.query<{ declined: boolean }>(
        'select decline_as_operator($1, $2) as declined',
        [signedInOf(request).userId, request.params.id],
      );
      if (rows[0]?.declined !== true) throw new ConsoleError('not_found');
      return {};
    },
  );
}

function presentEntry(entry: WaitlistEntry): WaitlistPage['data'][number] {
  return {
    id: entry.id,
    email: entry.email,
    use_case: entry.purpose,
    status: entry.status,
    joined_at: entry.createdAt.toISOString(),
  };
}
