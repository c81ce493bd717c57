import {
  SwitchAccount,
  type Invitation,
  type InvitationList,
  type JoinedAccount,
} from '@svc-asr/protocol/console/console.ts';
import type { FastifyInstance } from 'fastify';
import {
  acceptInvitation,
  declineInvitation,
  listReceivedInvitations,
  type ReceivedInvitation,
} from '../../accounts/people/invitations.ts';
import { listMemberships } from '../../accounts/people/members.ts';
import { audited, signedInOf } from '../request/guard.ts';
import { switchAccount } from '../sign-in/browser-sessions.ts';
import type { ConsoleDeps } from '../deps.ts';
import { ConsoleError } from '../request/error.ts';
import { idParam, type IdParam } from '../request/params.ts';

/** Routes for one person's accounts: accept invitations and switch between accounts. */
export function invitationRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  app.get('/invitations', async (request): Promise<InvitationList> => {
    const received = await listReceivedInvitations(deps.db, signedInOf(request).userId);
    return { data: received.map(presentInvitation) };
  });

  app.post<IdParam>(
    '/invitations/:id/accept',
    { schema: { params: idParam } },
    async (request): Promise<JoinedAccount> => {
      const { userId, token, account } = signedInOf(request);
      const invitation = { userId, id: request.params.id };
      const accountId = await audited(deps.db, request, (db) => acceptInvitation(db, invitation));
      if (accountId === null) throw new ConsoleError('not_found');
      if (account === null) await switchAccount(deps.db, { token, accountId });
      return { account_id: accountId };
    },
  );

  app.post<IdParam>(
    '/invitations/:id/decline',
    { schema: { params: idParam } },
    async (request) => {
      const { userId } = signedInOf(request);
      const invitation = { userId, id: request.params.id };
      const declined = await audited(deps.db, request, (db) => declineInvitation(db, invitation));
      if (!declined) throw new ConsoleError('not_found');
      return {};
    },
  );

  app.post<{ Body: { account_id: string } }>(
    '/accounts/switch',
    { schema: { body: SwitchAccount } },
    async (request) => {
      const { userId, token } = signedInOf(request);
      const accountId = request.body.account_id;
      const accounts = await listMemberships(deps.db, userId);
      if (!accounts.some((known) => known.accountId === accountId)) {
        throw new ConsoleError('not_found');
      }
      await switchAccount(deps.db, { token, accountId });
      return {};
    },
  );
}

function presentInvitation(invitation: ReceivedInvitation): Invitation {
  return {
    id: invitation.id,
    account: invitation.accountName,
    invited_by: invitation.invitedBy,
    role: invitation.role,
    sent_at: invitation.createdAt.toISOString(),
    expires_at: invitation.expiresAt.toISOString(),
  };
}
