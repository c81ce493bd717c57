import type { Activity, ActivityEntry } from '@svc-asr/protocol/console/console.ts';
import { formatDateTime } from '../../app/format.ts';
import { useLanguage, useTexts } from '../../app/language.tsx';
import { useLoad } from '../../app/use-load.ts';
import { Empty, Loaded } from '../../design/feedback.tsx';
import { useFirstRows } from '../../design/first-rows.ts';
import { Card, PageHead } from '../../design/surfaces.tsx';
import { explainActivity, findBeforeRename, reasonOf } from './explain-activity.ts';

/** The audit log of the account, for its owners. */
export default function ActivityScreen() {
  const texts = useTexts();
  const { load, reload } = useLoad<Activity>('/activity');
  return (
    <>
      <PageHead title={texts.activity.title} lead={texts.activity.lead} />
      <Card>
        <Loaded load={load} onRetry={() => void reload()}>
          {({ data }) =>
            data.length === 0 ? (
              <Empty icon="overview" text={texts.activity.empty} />
            ) : (
              <Entries entries={data} />
            )
          }
        </Loaded>
      </Card>
    </>
  );
}

function Entries({ entries }: { entries: ActivityEntry[] }) {
  const shown = useFirstRows(entries);
  const beforeRename = findBeforeRename(entries);
  return (
    <ol className="divide-y divide-line">
      {shown.map((entry) => (
        <Entry key={entry.id} entry={entry} isBeforeRename={beforeRename.has(entry)} />
      ))}
    </ol>
  );
}

function Entry(props: { entry: ActivityEntry; isBeforeRename: boolean }) {
  const { entry, isBeforeRename } = props;
  const texts = useTexts();
  const reason = reasonOf(entry);
  const { language } = useLanguage();
  return (
    <li className="grid gap-x-6 gap-y-1 py-3 sm:grid-cols-[12rem_1fr]">
      <p className="text-sm text-ink-3">{formatDateTime(entry.at, language)}</p>
      <div className="min-w-0">
        <p className="wrap-anywhere">{explainActivity(entry, texts, isBeforeRename)}</p>
        {reason !== null && (
          <p className="text-sm wrap-anywhere text-ink-2">{texts.activity.reason(reason)}</p>
        )}
        {entry.source !== null && (
          <p className="text-xs wrap-anywhere text-ink-3">{texts.activity.from(entry.source)}</p>
        )}
      </div>
    </li>
  );
}
