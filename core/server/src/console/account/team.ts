import { InviteMember, SetRole, type Role } from '@svc-asr/protocol/console/console.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { inviteMember, withdrawInvitation } from '../../accounts/people/invitations.ts';
import { changeMember, listMemberships } from '../../accounts/people/members.ts';
import { audited, memberOf, requireOwner } from '../request/guard.ts';
import { switchAccount } from '../sign-in/browser-sessions.ts';
import type { ConsoleDeps } from '../deps.ts';
import { ConsoleError } from '../request/error.ts';
import { idParam, type IdParam } from '../request/params.ts';
import { presentSettings } from './settings.ts';

/** Routes for the people of one account. Owners invite and remove members. Every member may leave. */
export function teamRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  app.post<{ Body: InviteMember }>(
    '/settings/members',
    { onRequest: requireOwner, schema: { body: InviteMember } },
    async (request) => {
      const member = memberOf(request);
      const { accountId, userId, language } = member;
      const { email, role } = request.body;
      const invitation = { accountId, invitedBy: userId, email, role, language };
      const outcome = await audited(deps.db, request, (db) => inviteMember(db, invitation));
      if (outcome !== 'invited') throw new ConsoleError(outcome);
      return presentSettings(deps, member);
    },
  );

  app.post<IdParam>(
    '/settings/invitations/:id/withdraw',
    { onRequest: requireOwner, schema: { params: idParam } },
    async (request) => {
      const member = memberOf(request);
      const invitation = { accountId: member.accountId, id: request.params.id };
      const withdrawn = await audited(deps.db, request, (db) => withdrawInvitation(db, invitation));
      if (!withdrawn) throw new ConsoleError('not_found');
      return presentSettings(deps, member);
    },
  );

  async function change(request: FastifyRequest, input: { id: string; role: Role | null }) {
    const { accountId } = memberOf(request);
    const change = { accountId, memberId: input.id, role: input.role };
    const outcome = await audited(deps.db, request, (db) => changeMember(db, change));
    if (outcome !== 'changed') throw new ConsoleError(outcome);
  }
  app.post<IdParam & { Body: { role: Role } }>(
    '/settings/members/:id/role',
    { onRequest: requireOwner, schema: { params: idParam, body: SetRole } },
    async (request) => {
      await change(request, { id: request.params.id, role: request.body.role });
      return presentSettings(deps, memberOf(request));
    },
  );
  app.post<IdParam>(
    '/settings/members/:id/remove',
    { onRequest: requireOwner, schema: { params: idParam } },
    async (request) => {
      await change(request, { id: request.params.id, role: null });
      return presentSettings(deps, memberOf(request));
    },
  );

  app.post('/settings/leave', async (request) => {
    const by = memberOf(request);
    const accounts = await listMemberships(deps.db, by.userId);
    const next = accounts.find(({ accountId }) => accountId !== by.accountId);
    // A session that stays in the account would end with the membership.
    await switchAccount(deps.db, { token: by.token, accountId: next?.accountId ?? null });
    try {
      await change(request, { id: by.userId, role: null });
    } catch (error) {
      await switchAccount(deps.db, by);
      throw error;
    }
    return {};
  });
}
