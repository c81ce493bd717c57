import { useState, type FormEvent, type ReactNode } from 'react';
import { MODEL_IDS } from '@svc-asr/protocol/constants.ts';
import type { Me } from '@svc-asr/protocol/console/console.ts';
import type { UsageReport } from '@svc-asr/protocol/console/usage.ts';
import { formatAudio, formatDate, formatFigure, numberFormat } from '../../app/format.ts';
import { useLanguage, useTexts } from '../../app/language.tsx';
import { Link, navigate, useSearch } from '../../app/router.tsx';
import { useLoad } from '../../app/use-load.ts';
import { Button, TextField } from '../../design/controls.tsx';
import { CardSkeleton, Empty, Loaded, Notice } from '../../design/feedback.tsx';
import { Card, PageHead } from '../../design/surfaces.tsx';
import { useUsageTexts } from '../../texts/usage.ts';
import { fillDays } from '../overview/days.ts';
import { UsageChart } from '../overview/usage-chart.tsx';
import { addUp } from './add-up.ts';
import { CsvLink } from './csv-link.tsx';
import { FigureTable } from './figure-table.tsx';
import { daysIn, presetOf, PRESETS, rangeOf } from './usage-range.ts';

const PATH = '/app/usage';
/** More bars would be too thin to point at. */
const CHART_DAYS_MAX = 92;

/** What was charged in any range of days, with range and filters in the address. */
export default function UsageScreen({ me }: { me: Me }) {
  const texts = useUsageTexts();
  const search = useSearch();
  const query = search.size === 0 ? '' : `?${search}`;
  const { load, reload } = useLoad<UsageReport>(`/usage${query}`);
  return (
    <>
      <PageHead title={texts.title} lead={texts.lead} isWide>
        <div className="flex flex-wrap gap-2 print:hidden">
          <Button onClick={() => print()}>{texts.print}</Button>
          <CsvLink name="usage" query={query} label={texts.csv} />
        </div>
      </PageHead>
      <Loaded load={load} skeleton={<CardSkeleton rows={8} />} onRetry={() => void reload()}>
        {(report) => (
          <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
            <Statement report={report} me={me} search={search} />
            <Filters key={`${report.from} ${report.to}`} report={report} search={search} />
            {!report.complete && <Notice tone="warn">{texts.incomplete}</Notice>}
            <Figures report={report} search={search} />
            <Charged report={report} />
          </div>
        )}
      </Loaded>
    </>
  );
}

/** The head of the printed page. */
function Statement(props: { report: UsageReport; me: Me; search: URLSearchParams }) {
  const { report, me, search } = props;
  const texts = useUsageTexts();
  const common = useTexts();
  const keyId = search.get('key');
  const model = MODEL_IDS.find((id) => id === search.get('model'));
  const parts = [
    ...(keyId === null
      ? []
      : [
          `${texts.key}: ${nameOf(keyId, report.keys.find(({ id }) => id === keyId)?.name ?? null, texts)}`,
        ]),
    ...(model === undefined ? [] : [`${texts.model}: ${common.common.models[model]}`]),
  ];
  const { language } = useLanguage();
  return (
    <p className="hidden print:block">
      <strong>{texts.statementOf(me.account?.name ?? me.email)}</strong>
      <br />
      {texts.between(formatDate(report.from, language), formatDate(report.to, language))}
      {parts.length > 0 && ` · ${parts.join(', ')}`}
    </p>
  );
}

/** A link that looks like a chip. */
function Chip(props: { href: string; isSet: boolean; children: ReactNode }) {
  return (
    <Link
      href={props.href}
      {...(props.isSet ? { 'aria-current': 'true' as const } : {})}
      className="inline-flex min-h-9 items-center rounded-full border border-edge px-4 text-sm hover:bg-muted aria-[current]:border-transparent aria-[current]:bg-accent-soft aria-[current]:font-semibold aria-[current]:text-accent-strong"
    >
      {props.children}
    </Link>
  );
}

function Filters({ report, search }: { report: UsageReport; search: URLSearchParams }) {
  const texts = useUsageTexts();
  const common = useTexts();
  const [from, setFrom] = useState(report.from);
  const [to, setTo] = useState(report.to);
  const preset = presetOf(report, report.today);
  /** The same page with other values. An empty one is left out. */
  function at(values: Readonly<Record<string, string>>): string {
    const next = new URLSearchParams(search);
    for (const [name, value] of Object.entries(values)) {
      if (value === '') next.delete(name);
      else next.set(name, value);
    }
    return next.size === 0 ? PATH : `${PATH}?${next}`;
  }
  function submit(event: FormEvent): void {
    event.preventDefault();
    if (from !== '' && to !== '') navigate(at({ from, to }));
  }
  const select = (name: 'key' | 'model', label: string, options: (readonly [string, string])[]) => (
    <select
      aria-label={label}
      className="input select min-h-9 w-auto max-w-56 rounded-full py-1 text-sm"
      value={search.get(name) ?? ''}
      onChange={(event) => navigate(at({ [name]: event.target.value }))}
    >
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  );
  return (
    <div className="grid gap-3 print:hidden">
      <div className="flex flex-wrap gap-2">
        {PRESETS.map((known) => (
          <Chip key={known} href={at({ ...rangeOf(known, report.today) })} isSet={known === preset}>
            {texts.presets[known]}
          </Chip>
        ))}
        {select('key', texts.key, [
          ['', texts.allKeys],
          ...report.keys.map(({ id, name }) => [id, nameOf(id, name, texts)] as const),
        ])}
        {select('model', texts.model, [
          ['', texts.allModels],
          ...MODEL_IDS.map((model) => [model, common.common.models[model]] as const),
        ])}
      </div>
      <details open={preset === null}>
        <summary className="w-fit rounded-sm text-sm text-ink-2 underline underline-offset-4">
          {texts.otherDays}
        </summary>
        <form onSubmit={submit} className="mt-3 flex flex-wrap items-end gap-4">
          <TextField label={texts.from} type="date" required value={from} onChange={setFrom} />
          <TextField label={texts.to} type="date" required value={to} onChange={setTo} />
          <Button kind="primary" type="submit">
            {texts.show}
          </Button>
        </form>
      </details>
    </div>
  );
}

function nameOf(id: string, name: string | null, texts: { readonly playground: string }): string {
  if (id === 'none') return texts.playground;
  return name === null || name === '' ? `${id}…` : name;
}

function Figures({ report, search }: { report: UsageReport; search: URLSearchParams }) {
  const texts = useUsageTexts();
  const common = useTexts();
  const { language } = useLanguage();
  const number = numberFormat(language);
  const chargedMs = report.data.reduce((sum, line) => sum + line.billable_ms, 0);
  const sessions = report.data.reduce((sum, line) => sum + line.sessions, 0);
  const count = daysIn(report);
  const perDayMs = chargedMs / count;
  const days = perDayMs === 0 ? null : Math.floor(report.available_ms / perDayMs);
  // All keys and models use the same credit.
  const isPart = search.has('key') || search.has('model');
  const change =
    report.previous_ms === 0
      ? null
      : Math.round(((chargedMs - report.previous_ms) / report.previous_ms) * 100);
  const figures = [
    {
      name: texts.charged,
      value: formatFigure(chargedMs, common),
      note:
        change === null
          ? texts.noChange(count)
          : texts.change(`${change > 0 ? '+' : ''}${change}`, count),
    },
    {
      name: texts.sessions,
      value: number.format(sessions),
      note: texts.average(formatAudio(sessions === 0 ? 0 : chargedMs / sessions, common)),
    },
    {
      name: texts.left,
      value: formatFigure(report.available_ms, common),
      note: isPart
        ? texts.ofAll
        : days === null
          ? texts.noPace
          : days > 365
            ? texts.paceOfYears
            : texts.pace(number.format(days)),
    },
    { name: texts.alerts, value: texts.alertLevels, note: texts.alertsTo },
  ];
  return (
    <dl className="grid grid-cols-2 gap-3 sm:gap-4 xl:grid-cols-4 print:grid-cols-4">
      {figures.map(({ name, value, note }) => (
        <div key={name} className="card p-3.5 sm:p-5">
          <dt className="text-sm text-ink-2">{name}</dt>
          <dd className="mt-1 text-base font-semibold tracking-tight text-balance tabular-nums sm:text-lg">
            {value}
          </dd>
          <dd className="mt-1 text-sm text-ink-3">{note}</dd>
        </div>
      ))}
    </dl>
  );
}

function Charged({ report }: { report: UsageReport }) {
  const texts = useUsageTexts();
  const common = useTexts();
  const { language } = useLanguage();
  const number = numberFormat(language);
  const sums = addUp(report.data);
  const total = (read: (sum: (typeof sums)[number]) => number) =>
    sums.reduce((all, sum) => all + read(sum), 0);
  if (sums.length === 0) {
    return (
      <Card>
        <Empty icon="usage" text={texts.empty} />
      </Card>
    );
  }
  const totalMs = total(({ billableMs }) => billableMs);
  const share = (ms: number) => {
    const percent = Math.round((100 * ms) / totalMs);
    return texts.percent(
      percent === 0 && ms > 0 ? `<\u00a0${number.format(1)}` : number.format(percent),
    );
  };
  const count = daysIn(report);
  const days = report.data.map((line) => ({ ...line, date: line.day }));
  return (
    <>
      {count > 1 && count <= CHART_DAYS_MAX && (
        <Card title={texts.byDay}>
          <UsageChart days={fillDays({ days, now: report.to, count })} />
        </Card>
      )}
      <Card title={texts.byKey}>
        <FigureTable
          label={texts.byKey}
          names={[texts.key, texts.model]}
          figures={[texts.sessions, texts.charged, texts.share]}
          rows={[
            ...sums.map((sum) => ({
              id: sum.name,
              names: [
                nameOf(sum.keyId ?? 'none', sum.keyName, texts),
                common.common.models[sum.model],
              ],
              figures: [
                number.format(sum.sessions),
                formatAudio(sum.billableMs, common),
                share(sum.billableMs),
              ],
            })),
            {
              id: 'total',
              isTotal: true,
              names: [texts.total, ''],
              figures: [
                number.format(total(({ sessions }) => sessions)),
                formatAudio(totalMs, common),
                share(totalMs),
              ],
            },
          ]}
        />
      </Card>
    </>
  );
}
