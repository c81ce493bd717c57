import { useState, type FormEvent } from 'react';
import { AUDIT_KINDS } from '@svc-asr/protocol/console/constants.ts';
import type { AuditLogEntry, AuditLogPage } from '@svc-asr/protocol/console/operator.ts';
import { useLanguage, useTexts } from '../../app/language.tsx';
import { Link, navigate, useSearch } from '../../app/router.tsx';
import { useLoad } from '../../app/use-load.ts';
import { Button, Field, TextField } from '../../design/controls.tsx';
import { Empty } from '../../design/feedback.tsx';
import { Card } from '../../design/surfaces.tsx';
import { useOperatorTexts } from '../../texts/operator.ts';
import { PageLinks } from '../sessions/page-links.tsx';
import { DataTable } from './parts/data-table.tsx';
import { AccountLink } from './parts/links.tsx';
import { describeChange } from './describe-change.ts';
import { explainChange } from './explain-change.ts';
import { FilterCard } from '../sessions/filter-card.tsx';
import { FilterNote } from './parts/filter-note.tsx';
import { OperatorPage } from './operator-page.tsx';
import { at, OPERATOR_PATHS } from './paths.ts';
import { momentFormat, zoneName } from '../../app/format.ts';
import { dayOf, describeDay, startOfDay } from '../../app/filter-day.ts';

const PATH = OPERATOR_PATHS.audit;

/** Who changed what, of one account or of all. */
export function AuditLogScreen() {
  const texts = useOperatorTexts();
  const search = useSearch();
  const account = search.get('account');
  const path = `/operator/audit-log${search.size === 0 ? '' : `?${search}`}`;
  const { load, reload } = useLoad<AuditLogPage>(path);
  const { language } = useLanguage();
  const describe = (filter: (typeof FILTERS)[number], value: string): string => {
    const { audit } = texts;
    switch (filter) {
      case 'kind': {
        const kind = AUDIT_KINDS.find((known) => known === value);
        return `${audit.kind}: ${kind === undefined ? value : audit.kinds[kind]}`;
      }
      case 'who':
        return `${audit.actor}: ${value}`;
      case 'from':
      case 'to': {
        const { day, zone } = describeDay(value, language);
        return `${filter === 'from' ? audit.fromDay(zone) : audit.toDay(zone)}: ${day}`;
      }
    }
  };
  return (
    <OperatorPage place="audit" lead={texts.audit.lead} load={load} onRetry={() => void reload()}>
      {({ data, next }) => (
        <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
          <FilterNote path={PATH} node={null} account={account} />
          <FilterCard path={PATH} search={search} filters={FILTERS} describe={describe}>
            <Filters search={search} />
          </FilterCard>
          <Card>
            <div className="grid gap-4">
              {data.length === 0 ? (
                <Empty
                  icon="overview"
                  text={next === null ? texts.audit.empty : texts.audit.emptyHere}
                />
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
          name: `${texts.audit.time} (${zoneName(language)})`,
          isTitle: true,
          cell: (entry) => (
            <span className="md:whitespace-nowrap">{time.format(new Date(entry.at))}</span>
          ),
        },
        { name: texts.audit.action, isBare: true, cell: (entry) => <Sentence entry={entry} /> },
        {
          name: texts.account,
          isLong: true,
          cell: ({ account_id: id, account_name: name }) =>
            id === null ? texts.none : <AccountLink id={id} name={name} />,
        },
      ]}
    />
  );
}

/** What happened, why and from where. The recorded values are one click away. */
function Sentence({ entry }: { entry: AuditLogEntry }) {
  const operator = useOperatorTexts();
  const texts = operator.audit;
  const common = useTexts();
  const { changes, reason } = describeChange(entry);
  return (
    <div className="grid gap-0.5 wrap-anywhere">
      <p>{explainChange(entry, { common, operator })}</p>
      {reason !== null && <p className="text-ink-2">{texts.because(reason)}</p>}
      {entry.source !== null && <p className="text-xs text-ink-3">{texts.from(entry.source)}</p>}
      {entry.imported_from !== null && (
        <p className="text-xs text-ink-3">{texts.imported(entry.imported_from)}</p>
      )}
      <details className="text-xs text-ink-3">
        <summary className="w-fit rounded-sm">{texts.details}</summary>
        <div className="mt-1 grid gap-0.5">
          <code>{entry.action}</code>
          {changes.map((change) => (
            <code key={change}>{change}</code>
          ))}
          {entry.target !== null && entry.target !== entry.account_id && (
            <p>
              {texts.target}: <code>{entry.target}</code>
            </p>
          )}
          {entry.request_id !== null && <p>{texts.request(entry.request_id)}</p>}
        </div>
      </details>
    </div>
  );
}

const FILTERS = ['kind', 'who', 'from', 'to'] as const;

function isDay(filter: (typeof FILTERS)[number]): boolean {
  return filter === 'from' || filter === 'to';
}

/** The filters are in the address. */
function Filters({ search }: { search: URLSearchParams }) {
  const texts = useOperatorTexts();
  const { audit, accounts } = texts;
  const [values, setValues] = useState<Readonly<Record<string, string>>>(() =>
    Object.fromEntries(
      FILTERS.map((name) => {
        const value = search.get(name) ?? '';
        return [name, isDay(name) ? dayOf(value) : value];
      }),
    ),
  );
  const { language } = useLanguage();
  const zone = zoneName(language);
  const set = (name: string) => (value: string) => setValues((now) => ({ ...now, [name]: value }));
  const account = search.get('account');
  function submit(event: FormEvent): void {
    event.preventDefault();
    const given = FILTERS.map((name) => {
      const value = values[name]?.trim() || null;
      return [name, value !== null && isDay(name) ? startOfDay(value) : value] as const;
    });
    navigate(at(PATH, { account, ...Object.fromEntries(given) }));
  }
  return (
    <form onSubmit={submit} className="grid items-end gap-4 sm:grid-cols-2 xl:grid-cols-4">
      <Field label={audit.kind}>
        {(control) => (
          <select
            {...control}
            className="input select"
            value={values['kind']}
            onChange={(event) => set('kind')(event.target.value)}
          >
            <option value="">{texts.everything}</option>
            {AUDIT_KINDS.map((kind) => (
              <option key={kind} value={kind}>
                {audit.kinds[kind]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <TextField
        label={audit.actor}
        title={audit.actorHint}
        maxLength={200}
        value={values['who'] ?? ''}
        onChange={set('who')}
      />
      <TextField
        label={audit.fromDay(zone)}
        type="date"
        value={values['from'] ?? ''}
        onChange={set('from')}
      />
      <TextField
        label={audit.toDay(zone)}
        type="date"
        value={values['to'] ?? ''}
        onChange={set('to')}
      />
      <div className="flex flex-wrap gap-2 sm:col-span-full">
        <Button kind="primary" type="submit">
          {accounts.find}
        </Button>
        {FILTERS.some((name) => search.has(name)) && (
          <Link href={at(PATH, { account })} className="button button-quiet">
            {texts.all}
          </Link>
        )}
      </div>
    </form>
  );
}
