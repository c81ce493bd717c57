import type { ConsoleLanguage, Me, Settings } from '@svc-asr/protocol/console/console.ts';
import { post } from '../../app/api.ts';
import { useLanguage, useTexts } from '../../app/language.tsx';
import { Link } from '../../app/router.tsx';
import { useAction } from '../../app/use-action.ts';
import { useLoad } from '../../app/use-load.ts';
import { Choice } from '../../design/controls.tsx';
import { CardSkeleton, ErrorNotice, Loaded } from '../../design/feedback.tsx';
import { Card, PageHead } from '../../design/surfaces.tsx';
import { en } from '../../texts/en.ts';
import { sw } from '../../texts/sw.ts';
import { DataSection } from './data-section.tsx';
import { DevicesSection } from './devices-section.tsx';
import { OriginsSection } from './origins-section.tsx';
import { PasskeysSection } from './passkeys-section.tsx';

export default function SettingsScreen({
  me,
  onAccountLeft,
}: {
  me: Me;
  onAccountLeft: () => void;
}) {
  const texts = useTexts();
  const { load, reload, set } = useLoad<Settings>('/settings');
  return (
    <>
      <PageHead title={texts.settings.title} />
      <div className="grid gap-5">
        <LanguageSection />
        <PasskeysSection operator={me.operator} />
        <DevicesSection operator={me.operator} />
        <Loaded load={load} skeleton={<SettingsSkeleton />} onRetry={() => void reload()}>
          {(settings) => (
            <>
              <OriginsSection me={me} origins={settings.allowed_origins} onChanged={set} />
              {me.account?.role === 'owner' && (
                <Card title={texts.activity.title} lead={texts.activity.lead}>
                  <Link href="/app/activity" className="button button-secondary">
                    {texts.activity.show}
                  </Link>
                </Card>
              )}
              <DataSection me={me} onErased={onAccountLeft} />
            </>
          )}
        </Loaded>
      </div>
    </>
  );
}

function SettingsSkeleton() {
  return (
    <div className="grid gap-5">
      <CardSkeleton rows={3} />
      <CardSkeleton rows={3} />
    </div>
  );
}

function LanguageSection() {
  const texts = useTexts();
  const { language, choose } = useLanguage();
  const save = useAction(async (next: ConsoleLanguage) => {
    choose(next);
    await post('/settings/language', { language: next });
  });
  return (
    <Card>
      <div className="max-w-xs">
        <Choice
          label={texts.settings.language}
          value={language}
          options={[
            { value: 'en', label: en.languageName },
            { value: 'sw', label: sw.languageName },
          ]}
          onChange={(next) => save.run(next)}
        />
      </div>
      <ErrorNotice error={save.error} />
    </Card>
  );
}
