import { WAITLIST_STATUSES } from '@svc-asr/protocol/console/constants.ts';
import type { WaitlistEntry, WaitlistPage } from '@svc-asr/protocol/console/operator.ts';
import { formatAudio, formatDate } from '../../app/format.ts';
import { useLanguage, useTexts } from '../../app/language.tsx';
import { useSearch } from '../../app/router.tsx';
import { useLoad } from '../../app/use-load.ts';
import { Empty } from '../../design/feedback.tsx';
import { Card } from '../../design/surfaces.tsx';
import { useOperatorTexts } from '../../texts/operator.ts';
import { DataTable } from './parts/data-table.tsx';
import { AccountLink } from './parts/links.tsx';
import { NextPage } from './parts/next-page.tsx';
import { OperatorPage } from './operator-page.tsx';
import { at, OPERATOR_PATHS } from './paths.ts';
import { StateChoice, stateOf } from './parts/state-choice.tsx';
import { WaitingTable } from './waiting-table.tsx';

const PATH = OPERATOR_PATHS.waitlist;

/** Requests for access. */
export function WaitlistScreen() {
  const texts = useOperatorTexts();
  const search = useSearch();
  const status = stateOf(search, 'status', WAITLIST_STATUSES);
  const after = search.get('after');
  const { load, reload } = useLoad<WaitlistPage>(at('/operator/waitlist', { status, after }));
  return (
    <OperatorPage
      place="waitlist"
      lead={texts.waitlist.lead}
      load={load}
      onRetry={() => void reload()}
      aside={
        <StateChoice
          label={texts.waitlist.show}
          value={status}
          options={texts.waitlist.states}
          states={WAITLIST_STATUSES}
          hrefOf={(state) => at(PATH, { status: state === 'waiting' ? null : state })}
        />
      }
    >
      {({ data, next }) => (
        <Card>
          <div className="grid gap-4">
            <Entries entries={data} status={status} />
            <NextPage path={PATH} query={{ status }} after={after} next={next} />
          </div>
        </Card>
      )}
    </OperatorPage>
  );
}

function Entries(props: { entries: WaitlistEntry[]; status: WaitlistEntry['status'] }) {
  const texts = useOperatorTexts().waitlist;
  const { entries, status } = props;
  if (entries.length === 0) {
    return status === 'waiting' ? (
      <Empty icon="operator" title={texts.emptyTitle} text={texts.empty} />
    ) : (
      <Empty icon="operator" text={texts.emptyDecided} />
    );
  }
  // A new page is a new selection.
  if (status === 'waiting') return <WaitingTable key={entries[0]?.id} entries={entries} />;
  return <DecidedTable entries={entries} status={status} />;
}

function DecidedTable(props: { entries: WaitlistEntry[]; status: WaitlistEntry['status'] }) {
  const texts = useOperatorTexts();
  const common = useTexts();
  const { language } = useLanguage();
  const { waitlist } = texts;
  return (
    <DataTable
      label={waitlist.states[props.status]}
      rows={props.entries}
      idOf={({ id }) => id}
      columns={[
        {
          name: waitlist.email,
          isTitle: true,
          cell: ({ email, account_id: id }) =>
            id === null ? email : <AccountLink id={id} name={email} />,
        },
        {
          name: waitlist.useCase,
          isLong: true,
          cell: ({ use_case }) => use_case || waitlist.noUse,
        },
        {
          name: waitlist.decided,
          isLong: true,
          cell: ({ decided_at, decided_by }) =>
            decided_at === null
              ? texts.none
              : waitlist.decidedBy(formatDate(decided_at, language), decided_by ?? texts.none),
        },
        { name: texts.reason, isLong: true, cell: ({ reason }) => reason ?? texts.none },
        ...(props.status === 'approved'
          ? [
              {
                name: waitlist.granted,
                isNumber: true,
                cell: ({ granted_ms: ms }: WaitlistEntry) =>
                  ms === null ? texts.none : formatAudio(ms, common),
              },
            ]
          : []),
      ]}
    />
  );
}
