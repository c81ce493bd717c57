import { useState, type FormEvent } from 'react';
import { CONSOLE_LIMITS } from '@svc-asr/protocol/console/constants.ts';
import type { LoggedCall, LogPage } from '@svc-asr/protocol/console/log.ts';
import { useLanguage } from '../../app/language.tsx';
import { Link, navigate, useSearch } from '../../app/router.tsx';
import { useLoad } from '../../app/use-load.ts';
import { UUID } from '../../app/uuid.ts';
import { Button, Field, TextField } from '../../design/controls.tsx';
import { Badge, Empty, Loaded } from '../../design/feedback.tsx';
import { useFirstRows } from '../../design/first-rows.ts';
import { Card, PageHead } from '../../design/surfaces.tsx';
import { useLogTexts } from '../../texts/log.ts';
import { CsvLink } from './csv-link.tsx';
import { FilterCard } from './filter-card.tsx';
import { ListRow, ListTable } from './list-table.tsx';
import { PageLinks } from './page-links.tsx';
import { numberFormat, momentFormat, zoneName } from '../../app/format.ts';

const PATH = '/app/log';
const FILTERS = ['id', 'show'] as const;

/** API calls and refused upgrades of the last days, with filters in the address. */
export default function LogScreen() {
  const texts = useLogTexts();
  const search = useSearch();
  const query = search.size === 0 ? '' : `?${search}`;
  const { load, reload } = useLoad<LogPage>(`/log${query}`);
  const { language } = useLanguage();
  const rows = numberFormat(language).format(CONSOLE_LIMITS.csvRows);
  const describe = (filter: (typeof FILTERS)[number], value: string) =>
    filter === 'id' ? `${texts.id}: ${value}` : value === 'refused' ? texts.refused : value;
  return (
    <>
      <PageHead title={texts.title} lead={texts.lead(CONSOLE_LIMITS.callLogDays)}>
        <div className="flex gap-2">
          <Button onClick={() => void reload()}>{texts.refresh}</Button>
          <CsvLink name="log" query={query} label={texts.csv} hint={texts.csvHint(rows)} />
        </div>
      </PageHead>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
        <FilterCard path={PATH} search={search} filters={FILTERS} describe={describe}>
          <Filters search={search} />
        </FilterCard>
        <Card>
          <Loaded load={load} onRetry={() => void reload()}>
            {(page) => <Page page={page} search={search} />}
          </Loaded>
        </Card>
      </div>
    </>
  );
}

function Filters({ search }: { search: URLSearchParams }) {
  const texts = useLogTexts();
  const [id, setId] = useState(search.get('id') ?? '');
  const [show, setShow] = useState(search.get('show') ?? '');
  const [invalid, setInvalid] = useState(false);
  function submit(event: FormEvent): void {
    event.preventDefault();
    const wanted = id.trim().toLowerCase();
    const isWrong = wanted !== '' && !UUID.test(wanted);
    setInvalid(isWrong);
    if (isWrong) return;
    navigate(at({ ...(wanted === '' ? {} : { id: wanted }), ...(show === '' ? {} : { show }) }));
  }
  return (
    <form
      onSubmit={submit}
      noValidate
      className="grid items-start gap-4 sm:grid-cols-[minmax(0,1fr)_14rem]"
    >
      <TextField
        label={texts.id}
        value={id}
        error={invalid ? texts.idInvalid : null}
        onChange={setId}
        className="font-mono"
      />
      <Field label={texts.show}>
        {(control) => (
          <select
            {...control}
            className="input select"
            value={show}
            onChange={(event) => setShow(event.target.value)}
          >
            <option value="">{texts.all}</option>
            <option value="refused">{texts.refused}</option>
          </select>
        )}
      </Field>
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" type="submit">
          {texts.search}
        </Button>
        {isFilteredBy(search) && (
          <Link href={PATH} className="button button-quiet">
            {texts.clear}
          </Link>
        )}
      </div>
    </form>
  );
}

function isFilteredBy(search: URLSearchParams): boolean {
  return FILTERS.some((filter) => search.has(filter));
}

function at(filters: Readonly<Record<string, string>>): string {
  const search = new URLSearchParams(filters);
  return `${PATH}${search.size === 0 ? '' : `?${search}`}`;
}

function Page({ page, search }: { page: LogPage; search: URLSearchParams }) {
  const texts = useLogTexts();
  const isFiltered = isFilteredBy(search);
  return (
    <div className="grid gap-4">
      {page.data.length === 0 ? (
        <Empty icon="sessions" text={isFiltered ? texts.empty : texts.emptyAll} />
      ) : (
        <CallTable key={page.data[0]?.request_id} calls={page.data} />
      )}
      <PageLinks
        path={PATH}
        search={search}
        next={page.next}
        newest={texts.newest}
        older={texts.older}
      />
    </div>
  );
}

function CallTable({ calls }: { calls: LoggedCall[] }) {
  const texts = useLogTexts();
  const { language } = useLanguage();
  const shown = useFirstRows(calls);
  return (
    <ListTable
      label={texts.title}
      names={[`${texts.time} (${zoneName(language)})`, texts.status, texts.call, texts.key]}
      figures={[texts.latency]}
      shares={[21, 8, 47, 14, 10]}
    >
      {shown.map((call) => (
        <Row key={call.request_id} call={call} />
      ))}
    </ListTable>
  );
}

function Row({ call }: { call: LoggedCall }) {
  const texts = useLogTexts();
  const { language } = useLanguage();
  const number = numberFormat(language);
  const time = momentFormat(language);
  const tone = call.status < 400 ? 'good' : call.status < 500 ? 'warn' : 'bad';
  return (
    <ListRow>
      <td className="tabular-nums max-lg:col-start-1 max-lg:row-start-1 lg:whitespace-nowrap">
        {time.format(new Date(call.at))}
      </td>
      <td className="max-lg:col-start-2 max-lg:row-start-1">
        <Badge tone={tone}>{call.status}</Badge>
      </td>
      <td className="max-lg:col-span-2 max-lg:row-start-2">
        <Call call={call} />
      </td>
      <td className="whitespace-nowrap text-ink-2 max-lg:col-start-1 max-lg:row-start-3 max-lg:text-xs">
        {call.key_id === null ? texts.playground : <code>{call.key_id}…</code>}
      </td>
      <td className="text-right whitespace-nowrap tabular-nums max-lg:col-start-2 max-lg:row-start-3 max-lg:text-xs">
        {texts.ms(number.format(call.took_ms))}
      </td>
    </ListRow>
  );
}

/** What was called, what went wrong and how to fix it, and the ids. */
function Call({ call }: { call: LoggedCall }) {
  const texts = useLogTexts();
  const { language } = useLanguage();
  return (
    <div className="grid gap-1">
      <p className="wrap-anywhere">
        <code>
          {call.method} {call.route}
        </code>{' '}
        {call.code !== null && <code className="font-semibold">{call.code}</code>}
      </p>
      {/* The response was in English, so the sentence is the one that the developer saw. */}
      {call.message !== null && (
        <p lang="en" className="text-ink-2">
          {call.message}
        </p>
      )}
      {call.more > 0 && (
        <p className="text-ink-2">{texts.more(numberFormat(language).format(call.more))}</p>
      )}
      <p className="flex flex-wrap gap-x-3 text-xs text-ink-3">
        <span className="wrap-anywhere">
          <span className="sr-only">{texts.request}: </span>
          <code>{call.request_id}</code>
        </span>
        {call.session_id !== null && (
          <Link
            href={`/app/sessions/${call.session_id}`}
            className="text-accent-strong underline underline-offset-4"
          >
            {texts.session}
          </Link>
        )}
      </p>
    </div>
  );
}
