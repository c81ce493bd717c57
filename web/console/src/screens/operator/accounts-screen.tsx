import { useState, type FormEvent } from 'react';
import type { OperatorAccount, OperatorAccountPage } from '@svc-asr/protocol/console/operator.ts';
import { formatAudio, numberFormat } from '../../app/format.ts';
import { useLanguage, useTexts } from '../../app/language.tsx';
import { Link, navigate, useSearch } from '../../app/router.tsx';
import { useLoad } from '../../app/use-load.ts';
import { Button, TextField } from '../../design/controls.tsx';
import { Badge, Empty } from '../../design/feedback.tsx';
import { Card } from '../../design/surfaces.tsx';
import { useOperatorTexts } from '../../texts/operator.ts';
import { DataTable, TABLE_LINK } from './parts/data-table.tsx';
import { NextPage } from './parts/next-page.tsx';
import { OperatorPage } from './operator-page.tsx';
import { at, OPERATOR_PATHS } from './paths.ts';

const PATH = OPERATOR_PATHS.accounts;

/** Finds accounts, with their balance, use and failures. */
export function AccountsScreen() {
  const texts = useOperatorTexts().accounts;
  const query = useSearch();
  const search = query.get('search');
  const after = query.get('after');
  const { load, reload } = useLoad<OperatorAccountPage>(
    at('/operator/accounts', { search, after }),
  );
  return (
    <OperatorPage place="accounts" lead={texts.lead} load={load} onRetry={() => void reload()}>
      {({ data, next }) => (
        <Card>
          <div className="grid gap-5">
            <SearchForm key={search} search={search ?? ''} />
            {data.length === 0 ? (
              <Empty icon="operator" text={texts.empty} />
            ) : (
              <AccountTable key={data[0]?.id} accounts={data} />
            )}
            <NextPage path={PATH} query={{ search }} after={after} next={next} />
          </div>
        </Card>
      )}
    </OperatorPage>
  );
}

function SearchForm(props: { search: string }) {
  const texts = useOperatorTexts().accounts;
  const [text, setText] = useState(props.search);
  function submit(event: FormEvent): void {
    event.preventDefault();
    navigate(at(PATH, { search: text.trim() || null }));
  }
  return (
    <form
      onSubmit={submit}
      className="grid items-end gap-3 sm:grid-cols-[minmax(0,24rem)_auto_auto] sm:justify-start"
    >
      <TextField
        label={texts.search}
        type="search"
        maxLength={200}
        value={text}
        onChange={setText}
      />
      <Button kind="primary" type="submit">
        {texts.find}
      </Button>
      {props.search !== '' && (
        <Link href={PATH} className="button button-quiet">
          {texts.clear}
        </Link>
      )}
    </form>
  );
}

function AccountTable({ accounts }: { accounts: OperatorAccount[] }) {
  const texts = useOperatorTexts();
  const common = useTexts();
  const { language } = useLanguage();
  const number = numberFormat(language);
  const { accounts: names } = texts;
  return (
    <DataTable
      label={texts.tabs.accounts}
      rows={accounts}
      idOf={({ id }) => id}
      columns={[
        { name: texts.account, isTitle: true, cell: (account) => <Name account={account} /> },
        {
          name: names.available,
          isNumber: true,
          cell: ({ available_ms }) => (
            <span className={available_ms < 60_000 ? 'font-medium text-danger' : ''}>
              {formatAudio(available_ms, common)}
            </span>
          ),
        },
        { name: names.day, isNumber: true, cell: ({ day_ms }) => formatAudio(day_ms, common) },
        { name: names.week, isNumber: true, cell: ({ week_ms }) => formatAudio(week_ms, common) },
        {
          name: names.failed,
          isNumber: true,
          cell: ({ id, failed }) =>
            failed === 0 ? (
              '0'
            ) : (
              <Link
                href={at(OPERATOR_PATHS.failures, { account: id })}
                className="rounded-sm text-danger underline underline-offset-4"
              >
                {number.format(failed)}
              </Link>
            ),
        },
        {
          name: names.live,
          isNumber: true,
          cell: ({ live, concurrency_limit: limit }) =>
            texts.nodes.of(number.format(live), number.format(limit)),
        },
        { name: texts.status, cell: ({ status }) => <AccountStatus status={status} /> },
      ]}
    />
  );
}

function Name({ account }: { account: OperatorAccount }) {
  return (
    <>
      <Link href={`${PATH}/${account.id}`} className={TABLE_LINK}>
        {account.name}
      </Link>
      {account.email !== null && account.email !== account.name && (
        <span className="block text-xs font-normal text-ink-3">{account.email}</span>
      )}
    </>
  );
}

export function AccountStatus({ status }: { status: OperatorAccount['status'] }) {
  const { states } = useOperatorTexts().accounts;
  return <Badge tone={status === 'active' ? 'good' : 'bad'}>{states[status]}</Badge>;
}
