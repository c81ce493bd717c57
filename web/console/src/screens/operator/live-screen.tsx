import { CONSOLE_LIMITS } from '@svc-asr/protocol/console/constants.ts';
import type { LivePage, LiveStream } from '@svc-asr/protocol/console/operator.ts';
import { formatAgo, formatAudio, numberFormat } from '../../app/format.ts';
import { useLanguage, useTexts } from '../../app/language.tsx';
import { Link, useSearch } from '../../app/router.tsx';
import { Button } from '../../design/controls.tsx';
import { Badge, Empty } from '../../design/feedback.tsx';
import { useFirstRows } from '../../design/first-rows.ts';
import { Card } from '../../design/surfaces.tsx';
import { useOperatorTexts } from '../../texts/operator.ts';
import { DataTable, TABLE_LINK } from './parts/data-table.tsx';
import { SessionLink } from './parts/links.tsx';
import { FilterNote } from './parts/filter-note.tsx';
import { OperatorPage } from './operator-page.tsx';
import { at, OPERATOR_PATHS } from './paths.ts';
import { streamColumns } from './stream-columns.tsx';
import { useRefreshed } from './parts/use-refreshed.ts';

const PATH = OPERATOR_PATHS.live;
const LIMIT = CONSOLE_LIMITS.operatorRowsPerPage;

/** Sessions that are reserved or streaming now, by node and account. */
export function LiveScreen() {
  const texts = useOperatorTexts();
  const search = useSearch();
  const filter = { node: search.get('node'), account: search.get('account') };
  const { load, reload, refresh } = useRefreshed<LivePage>(at('/operator/live', filter));
  return (
    <OperatorPage
      place="live"
      lead={texts.live.lead}
      load={load}
      onRetry={() => void reload()}
      aside={<Button onClick={() => void refresh()}>{texts.refresh}</Button>}
    >
      {(page) => (
        <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
          <FilterNote path={PATH} {...filter} />
          <div className="grid gap-5 md:grid-cols-2">
            <Counts title={texts.live.byNode} page={page} of="node" />
            <Counts title={texts.live.byAccount} page={page} of="account" />
          </div>
          <Streams page={page} isFiltered={filter.node !== null || filter.account !== null} />
          <p className="text-xs text-ink-3">{texts.live.updates}</p>
        </div>
      )}
    </OperatorPage>
  );
}

function Counts(props: { title: string; page: LivePage; of: 'node' | 'account' }) {
  const texts = useOperatorTexts();
  const { language } = useLanguage();
  const number = numberFormat(language);
  const counts = props.of === 'node' ? props.page.by_node : props.page.by_account;
  const most = Math.max(1, ...counts.map(({ streams }) => streams));
  const shown = useFirstRows(counts);
  return (
    <Card
      title={props.title}
      aside={
        <span className="text-sm text-ink-2">
          {texts.live.total(number.format(props.page.total))}
        </span>
      }
      {...(counts.length < LIMIT ? {} : { lead: texts.live.largest(LIMIT) })}
    >
      {counts.length === 0 ? (
        <p className="text-sm text-ink-2">{texts.live.empty}</p>
      ) : (
        <ul className="grid max-h-64 gap-2.5 overflow-y-auto text-sm">
          {shown.map(({ id, name, streams }) => (
            <li key={id} className="grid gap-1">
              <span className="flex justify-between gap-4">
                <Link
                  href={at(PATH, { [props.of]: id })}
                  className={`min-w-0 wrap-anywhere -outline-offset-2 ${TABLE_LINK}`}
                >
                  {name}
                </Link>
                <span className="tabular-nums">{number.format(streams)}</span>
              </span>
              <span aria-hidden="true" className="h-1.5 rounded-full bg-muted">
                <span
                  className="block h-1.5 rounded-full bg-accent"
                  style={{ width: `${(streams / most) * 100}%` }}
                />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function Streams({ page, isFiltered }: { page: LivePage; isFiltered: boolean }) {
  const texts = useOperatorTexts();
  const common = useTexts();
  const { language } = useLanguage();
  if (page.data.length === 0) {
    return (
      <Card>
        <Empty icon="sessions" text={isFiltered ? texts.live.emptyHere : texts.live.empty} />
      </Card>
    );
  }
  const audioOf = ({ audio_ms, reserved_ms }: LiveStream) =>
    texts.live.of(formatAudio(audio_ms, common), formatAudio(reserved_ms, common));
  return (
    <Card
      title={texts.tabs.live}
      {...(page.data.length < LIMIT ? {} : { lead: texts.live.oldest(LIMIT) })}
    >
      <DataTable
        label={texts.tabs.live}
        rows={page.data}
        idOf={({ id }) => id}
        columns={[
          {
            name: texts.live.started,
            isTitle: true,
            cell: ({ id, created_at }) => (
              <SessionLink id={id} time={formatAgo({ at: created_at, now: page.now, language })} />
            ),
          },
          ...streamColumns(texts, common.common.models),
          {
            name: texts.status,
            cell: ({ status }) => (
              <Badge tone={status === 'active' ? 'good' : 'plain'}>
                {texts.live.states[status]}
              </Badge>
            ),
          },
          { name: texts.live.audio, isNumber: true, cell: audioOf },
        ]}
      />
    </Card>
  );
}
