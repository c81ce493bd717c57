import { useState } from 'react';
import type {
  Invitation,
  InvitationList,
  JoinedAccount,
  Me,
} from '@svc-asr/protocol/console/console.ts';
import { post } from '../app/api.ts';
import { formatDate } from '../app/format.ts';
import { useLanguage, useTexts } from '../app/language.tsx';
import { navigate } from '../app/router.tsx';
import { useAction } from '../app/use-action.ts';
import { useLoad } from '../app/use-load.ts';
import { Button } from '../design/controls.tsx';
import { Empty, ErrorNotice, Loaded, Notice } from '../design/feedback.tsx';
import { Card, PageHead } from '../design/surfaces.tsx';

/** Open invitations of the signed-in person. Also the first page of a person without an account. */
export function InvitationsScreen({ me, onChanged }: { me: Me; onChanged: () => Promise<void> }) {
  const texts = useTexts();
  const { load, reload } = useLoad<InvitationList>('/invitations');
  const [joined, setJoined] = useState<{ id: string; name: string } | null>(null);
  async function answered(account: { id: string; name: string } | null): Promise<void> {
    setJoined(account);
    await reload();
    await onChanged();
  }
  const switching = useAction(async (accountId: string) => {
    await post('/accounts/switch', { account_id: accountId });
    await onChanged();
    navigate('/app');
  });
  const lead = me.account === null ? texts.invitations.leadNoAccount : texts.invitations.lead;
  return (
    <>
      <PageHead title={texts.invitations.title} lead={lead} />
      {joined !== null && (
        <div className="mb-4">
          <Notice tone="good">
            <p>{texts.invitations.joined(joined.name)}</p>
            {me.account?.id !== joined.id && (
              <Button
                className="mt-3"
                busy={switching.busy}
                onClick={() => switching.run(joined.id)}
              >
                {texts.invitations.switchTo(joined.name)}
              </Button>
            )}
            <ErrorNotice error={switching.error} />
          </Notice>
        </div>
      )}
      <Card>
        <Loaded load={load} onRetry={() => void reload()}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty icon="operator" text={texts.invitations.empty} />
            ) : (
              <ul className="divide-y divide-line">
                {data.map((invitation) => (
                  <InvitationRow
                    key={invitation.id}
                    invitation={invitation}
                    onAnswered={answered}
                  />
                ))}
              </ul>
            )
          }
        </Loaded>
      </Card>
    </>
  );
}

function InvitationRow(props: {
  invitation: Invitation;
  /** With the account that was joined, if any. */
  onAnswered: (joined: { id: string; name: string } | null) => Promise<void>;
}) {
  const texts = useTexts();
  const { language } = useLanguage();
  const { invitation } = props;
  const answer = useAction(async (verb: 'accept' | 'decline') => {
    const path = `/invitations/${invitation.id}/${verb}`;
    if (verb === 'decline') {
      await post(path);
      return props.onAnswered(null);
    }
    const { account_id: id } = await post<JoinedAccount>(path);
    return props.onAnswered({ id, name: invitation.account });
  });
  return (
    <li className="flex flex-wrap items-center gap-x-6 gap-y-3 py-4 first:pt-1 last:pb-1">
      <div className="min-w-0 grow">
        <h2 className="text-base wrap-anywhere">{invitation.account}</h2>
        <p className="text-sm wrap-anywhere text-ink-2">
          {invitation.invited_by === null
            ? texts.settings.roles[invitation.role]
            : texts.invitations.from(invitation.invited_by, texts.settings.roles[invitation.role])}
        </p>
        <p className="text-xs text-ink-3">
          {texts.invitations.expires(formatDate(invitation.expires_at, language))}
        </p>
        <ErrorNotice error={answer.error} />
      </div>
      <div className="flex gap-2 max-sm:w-full max-sm:[&>*]:flex-1">
        <Button busy={answer.busy} onClick={() => answer.run('decline')}>
          {texts.invitations.decline}
        </Button>
        <Button kind="primary" busy={answer.busy} onClick={() => answer.run('accept')}>
          {texts.invitations.accept}
        </Button>
      </div>
    </li>
  );
}
