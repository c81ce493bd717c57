import { SetLanguage, SetOrigins, type ConsoleLanguage } from '@svc-asr/protocol/console.ts';
import type { FastifyInstance } from 'fastify';
import { setAllowedOrigins } from '../accounts/accounts.ts';
import { setPersonLanguage } from '../accounts/members.ts';
import { audited } from './audited.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { memberOf, requireOwner, signedInOf } from './guard.ts';
import { presentSettings } from './present-settings.ts';

/** A person's own settings, which need no account. */
export function personRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  app.post<{ Body: { language: ConsoleLanguage } }>(
    '/settings/language',
    { schema: { body: SetLanguage } },
    async (request) => {
      const { language } = request.body;
      await setPersonLanguage(deps.db, { userId: signedInOf(request).userId, language });
      return {};
    },
  );
}

export function settingsRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  app.get('/settings', (request) => presentSettings(deps, memberOf(request)));

  app.post<{ Body: SetOrigins }>(
    '/settings/origins',
    { onRequest: requireOwner, schema: { body: SetOrigins } },
    async (request) => {
      const member = memberOf(request);
      const change = { id: member.accountId, origins: request.body.allowed_origins };
      await audited(deps.db, request, (db) => setAllowedOrigins(db, change));
      return presentSettings(deps, member);
    },
  );
}
