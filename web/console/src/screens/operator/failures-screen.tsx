import { FAILURE_HOURS } from '@svc-asr/protocol/console/constants.ts';
import type { FailurePage } from '@svc-asr/protocol/console/operator.ts';
import { formatAgo, formatAudio, formatDateTime, numberFormat } from '../../app/format.ts';
import { useLanguage, useTexts } from '../../app/language.tsx';
import { Link, useSearch } from '../../app/router.tsx';
import { useLoad } from '../../app/use-load.ts';
import { Empty } from '../../design/feedback.tsx';
import { Card } from '../../design/surfaces.tsx';
import { useOperatorTexts } from '../../texts/operator.ts';
import { DataTable, TABLE_LINK } from './parts/data-table.tsx';
import { SessionLink } from './parts/links.tsx';
import { FilterNote } from './parts/filter-note.tsx';
import { OperatorPage } from './operator-page.tsx';
import { at, OPERATOR_PATHS } from './paths.ts';
import { streamColumns } from './stream-columns.tsx';
import { StateChoice } from './parts/state-choice.tsx';

const PATH = OPERATOR_PATHS.failures;

/** Failed sessions by cause. */
export function FailuresScreen() {
  const texts = useOperatorTexts();
  const search = useSearch();
  const hours = FAILURE_HOURS.find((known) => known === search.get('hours')) ?? '24';
  const cause = search.get('cause');
  const filter = { node: search.get('node'), account: search.get('account') };
  const query = { hours, cause, ...filter };
  const { load, reload } = useLoad<FailurePage>(at('/operator/failures', query));
  return (
    <OperatorPage
      place="failures"
      lead={texts.failures.lead}
      load={load}
      onRetry={() => void reload()}
      aside={
        <StateChoice
          label={texts.failures.within}
          value={hours}
          options={texts.failures.hours}
          states={FAILURE_HOURS}
          hrefOf={(chosen) => at(PATH, { ...query, hours: chosen })}
        />
      }
    >
      {(page) => (
        <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
          <FilterNote path={PATH} {...filter} />
          {page.causes.length === 0 ? (
            <Card>
              <Empty icon="check" text={texts.failures.empty} />
            </Card>
          ) : (
            <>
              <Causes page={page} hrefOf={(chosen) => at(PATH, { ...query, cause: chosen })} />
              <Sessions page={page} cause={cause} all={at(PATH, { ...query, cause: null })} />
            </>
          )}
        </div>
      )}
    </OperatorPage>
  );
}

function Causes({ page, hrefOf }: { page: FailurePage; hrefOf: (cause: string) => string }) {
  const texts = useOperatorTexts().failures;
  const { language } = useLanguage();
  const number = numberFormat(language);
  return (
    <Card title={texts.causes}>
      <DataTable
        label={texts.causes}
        rows={page.causes}
        idOf={({ cause }) => cause}
        columns={[
          {
            name: texts.cause,
            isTitle: true,
            cell: ({ cause }) => (
              <>
                <Link href={hrefOf(cause)} className={TABLE_LINK}>
                  <code>{cause}</code>
                </Link>
                {cause in texts.explained && (
                  <span className="block text-xs font-normal text-ink-3">
                    {texts.explained[cause]}
                  </span>
                )}
              </>
            ),
          },
          { name: texts.sessions, isNumber: true, cell: (row) => number.format(row.sessions) },
          { name: texts.accounts, isNumber: true, cell: (row) => number.format(row.accounts) },
          { name: texts.nodes, isNumber: true, cell: (row) => number.format(row.nodes) },
          {
            name: texts.last,
            isNumber: true,
            cell: ({ last_at }) =>
              last_at === null ? '' : formatAgo({ at: last_at, now: page.now, language }),
          },
        ]}
      />
    </Card>
  );
}

function Sessions(props: { page: FailurePage; cause: string | null; all: string }) {
  const texts = useOperatorTexts();
  const common = useTexts();
  const { language } = useLanguage();
  return (
    <Card
      title={texts.failures.newest}
      aside={
        props.cause !== null && (
          <p className="flex flex-wrap gap-3 text-sm">
            <code>{props.cause}</code>
            <Link href={props.all} className={TABLE_LINK}>
              {texts.all}
            </Link>
          </p>
        )
      }
    >
      <DataTable
        label={texts.failures.newest}
        rows={props.page.data}
        idOf={({ id }) => id}
        columns={[
          {
            name: texts.failures.ended,
            isTitle: true,
            cell: ({ id, completed_at }) => (
              <SessionLink
                id={id}
                time={completed_at === null ? id : formatDateTime(completed_at, language)}
              />
            ),
          },
          { name: texts.failures.cause, cell: ({ cause }) => <code>{cause}</code> },
          ...streamColumns(texts, common.common.models),
          {
            name: texts.failures.audio,
            isNumber: true,
            cell: ({ audio_ms }) => formatAudio(audio_ms, common),
          },
        ]}
      />
    </Card>
  );
}
