import { useState, type ReactNode } from 'react';
import type { OperatorAccount, OperatorAccountReport } from '@svc-asr/protocol/console/operator.ts';
import {
  formatAudio,
  formatDate,
  formatDateTime,
  LOCALES,
  numberFormat,
} from '../../app/format.ts';
import { useLanguage, useTexts } from '../../app/language.tsx';
import { Link } from '../../app/router.tsx';
import { useLoad } from '../../app/use-load.ts';
import { CardSkeleton, Loaded, Notice } from '../../design/feedback.tsx';
import { Card, PageHead } from '../../design/surfaces.tsx';
import { useOperatorTexts } from '../../texts/operator.ts';
import { OutcomeBadge } from '../sessions/outcome-badge.tsx';
import { AccountActions } from './account-actions.tsx';
import { AccountStatus } from './accounts-screen.tsx';
import { DataTable, TABLE_LINK } from './parts/data-table.tsx';
import { SessionLink } from './parts/links.tsx';
import { at, OPERATOR_PATHS } from './paths.ts';

/** One account: its balance, use and newest sessions, and what an operator can change. */
export function AccountScreen({ id }: { id: string }) {
  const texts = useOperatorTexts();
  const { load, reload } = useLoad<OperatorAccountReport>(`/operator/accounts/${id}`);
  const [says, setSays] = useState('');
  const account = load.state === 'ready' ? load.data.account : null;
  return (
    <>
      <Link
        href={OPERATOR_PATHS.accounts}
        className="mb-3 inline-block rounded-sm text-sm text-ink-2 underline underline-offset-4"
      >
        {texts.accounts.back}
      </Link>
      <PageHead title={account?.name ?? texts.account}>
        {account !== null && (
          <AccountActions
            account={account}
            onChanged={(sentence) => {
              setSays(sentence);
              void reload();
            }}
          />
        )}
      </PageHead>
      <p role="status" className="mb-4 text-sm text-accent-strong empty:hidden">
        {says}
      </p>
      <Loaded load={load} skeleton={<CardSkeleton rows={6} />} onRetry={() => void reload()}>
        {(report) => <Report report={report} />}
      </Loaded>
    </>
  );
}

function Report({ report }: { report: OperatorAccountReport }) {
  const texts = useOperatorTexts();
  const { account } = report;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
      {account.move !== null && <Notice tone="warn">{texts.accounts.moved(account.move)}</Notice>}
      <div className="grid gap-5 lg:grid-cols-2">
        <Card title={texts.accounts.use} aside={<AccountStatus status={account.status} />}>
          <Figures account={account} />
        </Card>
        <Card title={texts.accounts.facts}>
          <Facts account={account} />
        </Card>
      </div>
      <Card title={texts.accounts.sessions}>
        <Sessions report={report} />
      </Card>
    </div>
  );
}

function Figures({ account }: { account: OperatorAccount }) {
  const texts = useOperatorTexts().accounts;
  const common = useTexts();
  const { language } = useLanguage();
  const days = account.week_ms === 0 ? null : (account.available_ms * 7) / account.week_ms;
  const number = new Intl.NumberFormat(LOCALES[language], { maximumFractionDigits: 0 });
  const audio = (ms: number) => formatAudio(ms, common);
  return (
    <dl className="grid gap-2.5 text-sm">
      <Fact name={texts.available}>{audio(account.available_ms)}</Fact>
      <Fact name={texts.reserved}>{audio(account.reserved_ms)}</Fact>
      <Fact name={texts.consumed}>{audio(account.consumed_ms)}</Fact>
      <Fact name={texts.granted}>{audio(account.granted_ms)}</Fact>
      <Fact name={texts.day}>{audio(account.day_ms)}</Fact>
      <Fact name={texts.week}>{audio(account.week_ms)}</Fact>
      {days !== null && <Fact name={texts.lasts}>{texts.days(number.format(days))}</Fact>}
      <Fact name={texts.failed}>{number.format(account.failed)}</Fact>
    </dl>
  );
}

function Facts({ account }: { account: OperatorAccount }) {
  const texts = useOperatorTexts();
  const { language } = useLanguage();
  const number = numberFormat(language);
  const links = [
    [OPERATOR_PATHS.live, texts.accounts.streams],
    [OPERATOR_PATHS.failures, texts.accounts.failures],
    [OPERATOR_PATHS.audit, texts.accounts.log],
  ] as const;
  return (
    <>
      <dl className="grid gap-2.5 text-sm">
        <Fact name={texts.accounts.contact}>{account.email ?? texts.none}</Fact>
        <Fact name={texts.accounts.created}>{formatDate(account.created_at, language)}</Fact>
        <Fact name={texts.accounts.limit}>{number.format(account.concurrency_limit)}</Fact>
        <Fact name={texts.accounts.live}>{number.format(account.live)}</Fact>
        <Fact name={texts.accounts.id}>
          <code className="text-xs">{account.id}</code>
        </Fact>
      </dl>
      <p className="mt-5 flex flex-wrap gap-x-5 gap-y-2 text-sm">
        {links.map(([path, label]) => (
          <Link key={path} href={at(path, { account: account.id })} className={TABLE_LINK}>
            {label}
          </Link>
        ))}
      </p>
    </>
  );
}

function Fact(props: { name: string; children: ReactNode }) {
  return (
    <div className="flex items-baseline justify-between gap-4">
      <dt className="min-w-20 text-ink-2">{props.name}</dt>
      <dd className="min-w-20 text-right font-medium wrap-anywhere tabular-nums">
        {props.children}
      </dd>
    </div>
  );
}

function Sessions({ report }: { report: OperatorAccountReport }) {
  const texts = useOperatorTexts();
  const common = useTexts();
  const { language } = useLanguage();
  if (report.sessions.length === 0) {
    return <p className="text-sm text-ink-2">{texts.accounts.sessionsEmpty}</p>;
  }
  return (
    <DataTable
      label={texts.accounts.sessions}
      rows={report.sessions}
      idOf={({ id }) => id}
      columns={[
        {
          name: texts.accounts.started,
          isTitle: true,
          cell: ({ id, created_at }) => (
            <SessionLink id={id} time={formatDateTime(created_at, language)} />
          ),
        },
        { name: texts.model, cell: ({ model }) => common.common.models[model] },
        { name: texts.status, cell: ({ outcome }) => <OutcomeBadge outcome={outcome} /> },
        {
          name: texts.accounts.closed,
          cell: ({ cause }) =>
            cause === null ? texts.none : <code className="wrap-anywhere">{cause}</code>,
        },
        {
          name: texts.accounts.audio,
          isNumber: true,
          cell: ({ audio_ms }) => formatAudio(audio_ms, common),
        },
        {
          name: texts.accounts.charged,
          isNumber: true,
          // Only the end of a session charges it.
          cell: ({ outcome, billable_ms }) =>
            outcome === 'active' || outcome === 'reserved'
              ? texts.none
              : formatAudio(billable_ms, common),
        },
      ]}
    />
  );
}
