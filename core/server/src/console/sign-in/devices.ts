import type { DeviceList } from '@svc-asr/protocol/console/console.ts';
import type { FastifyInstance } from 'fastify';
import { databaseTime } from '../../platform/database/time.ts';
import { closeOtherSession, listSessions } from './browser-sessions.ts';
import type { ConsoleDeps } from '../deps.ts';
import { ConsoleError } from '../request/error.ts';
import { signedInOf } from '../request/guard.ts';
import { idParam, type IdParam } from '../request/params.ts';

/** The browsers in which the person is signed in. The database finds them by the session's own token. */
export function deviceRoutes(app: FastifyInstance, { db }: ConsoleDeps): void {
  async function list(token: string): Promise<DeviceList> {
    const [data, now] = await Promise.all([listSessions(db, token), databaseTime(db)]);
    return { data, now: now.toISOString() };
  }
  app.get('/devices', (request) => list(signedInOf(request).token));

  app.post<IdParam>(
    '/devices/:id/sign-out',
    { schema: { params: idParam } },
    async (request): Promise<DeviceList> => {
      const { token } = signedInOf(request);
      const closed = await closeOtherSession(db, { token, id: request.params.id });
      if (!closed) throw new ConsoleError('not_found');
      return list(token);
    },
  );
}
