import type { AuditLogEntry, AuditLogPage } from '@svc-asr/protocol/console/operator.ts';
import { useLanguage } from '../../app/language.tsx';
import { useSearch } from '../../app/router.tsx';
import { useLoad } from '../../app/use-load.ts';
import { Empty } from '../../design/feedback.tsx';
import { Card } from '../../design/surfaces.tsx';
import { useOperatorTexts } from '../../texts/operator.ts';
import { PageLinks } from '../sessions/page-links.tsx';
import { DataTable } from './parts/data-table.tsx';
import { AccountLink } from './parts/links.tsx';
import { describeChange } from './describe-change.ts';
import { FilterNote } from './parts/filter-note.tsx';
import { OperatorPage } from './operator-page.tsx';
import { at, OPERATOR_PATHS } from './paths.ts';
import { momentFormat } from '../../app/format.ts';

const PATH = OPERATOR_PATHS.audit;

/** Who changed what, of one account or of all. */
export function AuditLogScreen() {
  const texts = useOperatorTexts();
  const search = useSearch();
  const account = search.get('account');
  const path = at('/operator/audit-log', { account, before: search.get('before') });
  const { load, reload } = useLoad<AuditLogPage>(path);
  return (
    <OperatorPage place="audit" lead={texts.audit.lead} load={load} onRetry={() => void reload()}>
      {({ data, next }) => (
        <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
          <FilterNote path={PATH} node={null} account={account} />
          <Card>
            <div className="grid gap-4">
              {data.length === 0 ? (
                <Empty icon="overview" text={texts.audit.empty} />
              ) : (
                <Entries key={data[0]?.id} entries={data} />
              )}
              <PageLinks
                path={PATH}
                search={search}
                next={next}
                newest={texts.newest}
                older={texts.older}
              />
            </div>
          </Card>
        </div>
      )}
    </OperatorPage>
  );
}

function Entries({ entries }: { entries: AuditLogEntry[] }) {
  const texts = useOperatorTexts();
  const { language } = useLanguage();
  const time = momentFormat(language);
  return (
    <DataTable
      label={texts.tabs.audit}
      rows={entries}
      idOf={({ id }) => String(id)}
      columns={[
        {
          name: texts.audit.time,
          isTitle: true,
          cell: (entry) => (
            <span className="md:whitespace-nowrap">{time.format(new Date(entry.at))}</span>
          ),
        },
        { name: texts.audit.action, isBare: true, cell: (entry) => <Change entry={entry} /> },
        {
          name: texts.account,
          isLong: true,
          cell: ({ account_id: id, account_name: name }) =>
            id === null ? texts.none : <AccountLink id={id} name={name} />,
        },
        {
          name: texts.audit.who,
          isLong: true,
          cell: ({ actor, source }) => (
            <>
              {actor ?? texts.audit.erased}
              {source !== null && (
                <span className="block text-xs text-ink-3">{texts.audit.from(source)}</span>
              )}
            </>
          ),
        },
      ]}
    />
  );
}

function Change({ entry }: { entry: AuditLogEntry }) {
  const texts = useOperatorTexts().audit;
  const { changes, reason } = describeChange(entry);
  return (
    <div className="grid gap-0.5 wrap-anywhere">
      <code className="font-semibold">{entry.action}</code>
      {changes.map((change) => (
        <code key={change} className="text-xs">
          {change}
        </code>
      ))}
      {reason !== null && <p className="text-ink-2">{texts.because(reason)}</p>}
      {entry.imported_from !== null && (
        <p className="text-xs text-ink-3">{texts.imported(entry.imported_from)}</p>
      )}
      {entry.target !== null && entry.target !== entry.account_id && (
        <p className="text-xs text-ink-3">
          {texts.target}: <code>{entry.target}</code>
        </p>
      )}
      {entry.request_id !== null && (
        <p className="text-xs text-ink-3">{texts.request(entry.request_id)}</p>
      )}
    </div>
  );
}
