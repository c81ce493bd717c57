import type { Me, Settings } from '@svc-asr/protocol/console/console.ts';
import { useTexts } from '../../app/language.tsx';
import { useLoad } from '../../app/use-load.ts';
import { CardSkeleton, Loaded } from '../../design/feedback.tsx';
import { PageHead } from '../../design/surfaces.tsx';
import { TeamSection } from './team-section.tsx';

/** Who belongs to the account, and who is invited. */
export default function TeamScreen(props: { me: Me; onAccountLeft: () => void }) {
  const texts = useTexts();
  const { load, reload, set } = useLoad<Settings>('/settings');
  return (
    <>
      <PageHead title={texts.settings.team} lead={texts.settings.teamLead} />
      <Loaded load={load} skeleton={<CardSkeleton rows={3} />} onRetry={() => void reload()}>
        {(settings) => (
          <TeamSection
            me={props.me}
            members={settings.members}
            invitations={settings.invitations}
            onChanged={set}
            onLeft={props.onAccountLeft}
          />
        )}
      </Loaded>
    </>
  );
}
