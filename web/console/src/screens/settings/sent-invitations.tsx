import type { SentInvitation, Settings } from '@svc-asr/protocol/console/console.ts';
import { post } from '../../app/api.ts';
import { formatDate } from '../../app/format.ts';
import { useLanguage, useTexts } from '../../app/language.tsx';
import { useAction } from '../../app/use-action.ts';
import { Button } from '../../design/controls.tsx';
import { Badge, ErrorNotice } from '../../design/feedback.tsx';

interface SentInvitationsProps {
  invitations: SentInvitation[];
  owner: boolean;
  onChanged: (settings: Settings) => void;
}

/** People who were invited and have not joined. */
export function SentInvitations({ invitations, owner, onChanged }: SentInvitationsProps) {
  const texts = useTexts();
  const { language } = useLanguage();
  const withdraw = useAction(async ({ id }: SentInvitation) => {
    onChanged(await post<Settings>(`/settings/invitations/${id}/withdraw`));
  });
  if (invitations.length === 0) return null;
  return (
    <>
      <ul className="divide-y divide-line border-t border-line">
        {invitations.map((invitation) => (
          <li key={invitation.id} className="flex flex-wrap items-center gap-x-4 gap-y-1 py-3">
            <div className="min-w-0 grow">
              <p className="wrap-anywhere">
                {invitation.email}{' '}
                <Badge tone={invitation.status === 'pending' ? 'warn' : 'plain'}>
                  {texts.settings.invitationStatus[invitation.status]}
                </Badge>
              </p>
              <p className="text-xs text-ink-3">
                {texts.settings.invitedOn(
                  formatDate(invitation.sent_at, language),
                  texts.settings.roles[invitation.role],
                )}
              </p>
            </div>
            {owner && invitation.status === 'pending' && (
              <Button kind="quiet" busy={withdraw.busy} onClick={() => withdraw.run(invitation)}>
                {texts.settings.withdraw}
                <span className="sr-only">{invitation.email}</span>
              </Button>
            )}
          </li>
        ))}
      </ul>
      <ErrorNotice error={withdraw.error} />
    </>
  );
}
