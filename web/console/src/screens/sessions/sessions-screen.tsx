import { CONSOLE_LIMITS } from '@svc-asr/protocol/console/constants.ts';
import type { ListedSession, SessionPage } from '@svc-asr/protocol/console/sessions.ts';
import {
  formatAudio,
  formatDateTime,
  formatExact,
  formatInZone,
  zoneName,
  numberFormat,
} from '../../app/format.ts';
import { useLanguage, useTexts } from '../../app/language.tsx';
import { Link, useSearch } from '../../app/router.tsx';
import { useLoad } from '../../app/use-load.ts';
import { Empty, Loaded, Notice } from '../../design/feedback.tsx';
import { useFirstRows } from '../../design/first-rows.ts';
import { Card, PageHead } from '../../design/surfaces.tsx';
import { useSessionTexts } from '../../texts/sessions.ts';
import { CsvLink } from './csv-link.tsx';
import { FilterCard } from './filter-card.tsx';
import { EXTRA_COLUMN, ListRow, ListTable } from './list-table.tsx';
import { PageLinks } from './page-links.tsx';
import { FILTERS, SessionFilters, useDescribedFilter } from './session-filters.tsx';
import { OutcomeBadge } from './outcome-badge.tsx';

/** All sessions of the account, with filters in the address. */
export default function SessionsScreen() {
  const texts = useSessionTexts();
  const common = useTexts();
  const search = useSearch();
  const query = search.size === 0 ? '' : `?${search}`;
  const { load, reload } = useLoad<SessionPage>(`/sessions${query}`);
  const { language } = useLanguage();
  const rows = numberFormat(language).format(CONSOLE_LIMITS.csvRows);
  const keys = load.state === 'ready' ? load.data.keys : [];
  const describe = useDescribedFilter(keys);
  return (
    <>
      <PageHead title={common.nav.sessions} lead={texts.lead}>
        <CsvLink name="sessions" query={query} label={texts.csv} hint={texts.csvHint(rows)} />
      </PageHead>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
        <FilterCard path="/app/sessions" search={search} filters={FILTERS} describe={describe}>
          <SessionFilters search={search} keys={keys} />
        </FilterCard>
        <Card>
          <Loaded load={load} onRetry={() => void reload()}>
            {(page) => <Page page={page} search={search} />}
          </Loaded>
        </Card>
        <p className="text-xs text-ink-3">{texts.private}</p>
      </div>
    </>
  );
}

function Page({ page, search }: { page: SessionPage; search: URLSearchParams }) {
  const texts = useSessionTexts();
  const { language } = useLanguage();
  const isFiltered = FILTERS.some((filter) => search.has(filter));
  return (
    <div className="grid gap-4">
      {page.data.length === 0 ? (
        <Empty icon="sessions" text={isFiltered ? texts.empty : texts.emptyAll} />
      ) : (
        <SessionTable key={page.data[0]?.id} sessions={page.data} />
      )}
      {page.searched_to !== null && (
        <Notice tone="info">{texts.searchedTo(formatDateTime(page.searched_to, language))}</Notice>
      )}
      <PageLinks
        path="/app/sessions"
        search={search}
        next={page.next}
        newest={texts.newest}
        older={page.searched_to === null ? texts.older : texts.continue}
      />
    </div>
  );
}

function SessionTable({ sessions }: { sessions: ListedSession[] }) {
  const texts = useSessionTexts();
  const common = useTexts();
  const { columns } = common.overview;
  const { language } = useLanguage();
  const shown = useFirstRows(sessions);
  return (
    <ListTable
      label={common.nav.sessions}
      names={[
        `${columns.started} (${zoneName(language)})`,
        columns.model,
        columns.status,
        `${texts.key} · ${texts.origin}`,
      ]}
      figures={[columns.audio, columns.charged]}
      extra={columns.audio}
      shares={[18, 9, 18, 33, 11, 11]}
    >
      {shown.map((session) => (
        <Row key={session.id} session={session} />
      ))}
    </ListTable>
  );
}

function Row({ session }: { session: ListedSession }) {
  const texts = useSessionTexts();
  const common = useTexts();
  const { language } = useLanguage();
  const from = session.origin ?? session.client;
  const keyName = session.key_name === '' ? `${session.key_id}…` : session.key_name;
  return (
    <ListRow>
      <td className="whitespace-nowrap max-lg:col-start-1 max-lg:row-start-1">
        <Link
          href={`/app/sessions/${session.id}`}
          className="text-accent-strong underline underline-offset-4"
        >
          {formatInZone(session.created_at, language)}
        </Link>
      </td>
      <td className="max-lg:col-start-1 max-lg:row-start-2">
        {common.common.models[session.model]}
      </td>
      <td className="max-lg:col-start-2 max-lg:row-start-1">
        <OutcomeBadge outcome={session.outcome} />
      </td>
      <td className="wrap-anywhere text-ink-2 max-lg:col-span-2 max-lg:row-start-3 max-lg:text-xs">
        {keyName ?? texts.playground}
        {from !== null && <span className="block text-xs text-ink-3">{from}</span>}
      </td>
      <td className={`text-right whitespace-nowrap tabular-nums ${EXTRA_COLUMN}`}>
        {formatExact(session.audio_ms, common)}
      </td>
      <td className="text-right font-medium whitespace-nowrap tabular-nums max-lg:col-start-2 max-lg:row-start-2">
        {session.completed_at === null
          ? common.playground.noneYet
          : formatAudio(session.billable_ms, common)}
      </td>
    </ListRow>
  );
}
