import {
  CONSOLE_LIMITS,
  InviteMember,
  SetLanguage,
  SetOrigins,
  SetRole,
  type ConsoleLanguage,
  type Role,
  type Settings,
} from '@svc-asr/protocol/console.ts';
import type { FastifyInstance } from 'fastify';
import { findAccount } from '../accounts/accounts.ts';
import { changeMember, inviteMember, listMembers, setMemberLanguage } from '../accounts/members.ts';
import type { SignedIn } from './browser-sessions.ts';
import type { ConsoleDeps } from './console-deps.ts';
import { ConsoleError } from './console-error.ts';
import { requireOwner, signedInOf } from './guard.ts';
import { idParam, type IdParam } from './id-param.ts';

export function settingsRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  app.get('/settings', (request) => presentSettings(deps, signedInOf(request)));

  app.post<{ Body: { language: ConsoleLanguage } }>(
    '/settings/language',
    { schema: { body: SetLanguage } },
    async (request) => {
      const { language } = request.body;
      await setMemberLanguage(deps.db, { memberId: signedInOf(request).userId, language });
      return {};
    },
  );

  app.post<{ Body: SetOrigins }>(
    '/settings/origins',
    { onRequest: requireOwner, schema: { body: SetOrigins } },
    async (request) => {
      const signedIn = signedInOf(request);
      await deps.db.query('select set_allowed_origins($1, $2)', [
        signedIn.accountId,
        request.body.allowed_origins,
      ]);
      return presentSettings(deps, signedIn);
    },
  );

  app.post<{ Body: InviteMember }>(
    '/settings/members',
    { onRequest: requireOwner, schema: { body: InviteMember } },
    async (request) => {
      const signedIn = signedInOf(request);
      const outcome = await inviteMember(deps.db, {
        accountId: signedIn.accountId,
        ...request.body,
        language: signedIn.language,
        limit: CONSOLE_LIMITS.members,
      });
      if (outcome !== 'invited') throw new ConsoleError(outcome);
      return presentSettings(deps, signedIn);
    },
  );

  async function change(request: { id: string; role: Role | null; by: SignedIn }) {
    const { accountId } = request.by;
    const outcome = await changeMember(deps.db, {
      accountId,
      memberId: request.id,
      role: request.role,
    });
    if (outcome !== 'changed') throw new ConsoleError(outcome);
    return presentSettings(deps, request.by);
  }
  app.post<IdParam & { Body: { role: Role } }>(
    '/settings/members/:id/role',
    { onRequest: requireOwner, schema: { params: idParam, body: SetRole } },
    (request) =>
      change({ id: request.params.id, role: request.body.role, by: signedInOf(request) }),
  );
  app.post<IdParam>(
    '/settings/members/:id/remove',
    { onRequest: requireOwner, schema: { params: idParam } },
    (request) => change({ id: request.params.id, role: null, by: signedInOf(request) }),
  );
}

async function presentSettings(deps: ConsoleDeps, signedIn: SignedIn): Promise<Settings> {
  const account = await findAccount(deps.db, signedIn.accountId);
  const members = await listMembers(deps.db, signedIn.accountId);
  return {
    allowed_origins: [...(account?.allowedOrigins ?? [])],
    members: members.map((member) => ({
      id: member.id,
      email: member.email,
      role: member.role,
      you: member.id === signedIn.userId,
      joined: member.joined,
    })),
  };
}
