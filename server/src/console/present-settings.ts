import type { Settings } from '@svc-asr/protocol/console.ts';
import { findAccount } from '../accounts/accounts.ts';
import { listSentInvitations } from '../accounts/invitations.ts';
import { listMembers } from '../accounts/members.ts';
import type { ConsoleDeps } from './console-deps.ts';
import type { SignedInMember } from './guard.ts';

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
