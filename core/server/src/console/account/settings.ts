import {
  type ConsoleLanguage,
  SetLanguage,
  SetOrigins,
  type Settings,
} from '@svc-asr/protocol/console/console.ts';
import type { FastifyInstance } from 'fastify';
import { findAccount, setAllowedOrigins } from '../../accounts/accounts.ts';
import { listSentInvitations } from '../../accounts/people/invitations.ts';
import { listMembers, setPersonLanguage } from '../../accounts/people/members.ts';
import type { ConsoleDeps } from '../deps.ts';
import {
  audited,
  memberOf,
  requireOwner,
  type SignedInMember,
  signedInOf,
} from '../request/guard.ts';

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

export async function presentSettings(
  deps: ConsoleDeps,
  { accountId, userId }: SignedInMember,
): Promise<Settings> {
  const account = await findAccount(deps.db, accountId);
  const members = await listMembers(deps.db, accountId);
  const invitations = await listSentInvitations(deps.db, accountId);
  return {
    allowed_origins: [...(account?.allowedOrigins ?? [])],
    members: members.map(({ id, email, role }) => ({ id, email, role, you: id === userId })),
    invitations: invitations.map(({ id, email, role, status, createdAt }) => ({
      id,
      email,
      role,
      status,
      sent_at: createdAt.toISOString(),
    })),
  };
}
