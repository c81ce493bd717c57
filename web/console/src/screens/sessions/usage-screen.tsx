import { useState, type FormEvent } from 'react';
import type { UsageReport } from '@svc-asr/protocol/console/usage.ts';
import { formatAudio, numberFormat } from '../../app/format.ts';
import { useLanguage, useTexts } from '../../app/language.tsx';
import { navigate, useSearch } from '../../app/router.tsx';
import { useLoad } from '../../app/use-load.ts';
import { Button, TextField } from '../../design/controls.tsx';
import { Empty, Loaded, Notice } from '../../design/feedback.tsx';
import { Card, PageHead } from '../../design/surfaces.tsx';
import { useUsageTexts } from '../../texts/usage.ts';
import { addUp } from './add-up.ts';
import { CsvLink } from './csv-link.tsx';
import { FigureTable } from './figure-table.tsx';

/** What was charged in any range of days, with the range in the address. */
export default function UsageScreen() {
  const texts = useUsageTexts();
  const search = useSearch();
  const query = search.size === 0 ? '' : `?${search}`;
  const { load, reload } = useLoad<UsageReport>(`/usage${query}`);
  return (
    <>
      <PageHead title={texts.title} lead={texts.lead} />
      <Loaded load={load} onRetry={() => void reload()}>
        {(report) => (
          <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
            <Card>
              <Range key={`${report.from} ${report.to}`} report={report} query={query} />
            </Card>
            {!report.complete && <Notice tone="warn">{texts.incomplete}</Notice>}
            <Tables report={report} />
          </div>
        )}
      </Loaded>
    </>
  );
}

function Range({ report, query }: { report: UsageReport; query: string }) {
  const texts = useUsageTexts();
  const [from, setFrom] = useState(report.from);
  const [to, setTo] = useState(report.to);
  function submit(event: FormEvent): void {
    event.preventDefault();
    if (from !== '' && to !== '') navigate(`/app/usage?from=${from}&to=${to}`);
  }
  return (
    <form onSubmit={submit} className="flex flex-wrap items-end gap-4">
      <TextField label={texts.from} type="date" required value={from} onChange={setFrom} />
      <TextField label={texts.to} type="date" required value={to} onChange={setTo} />
      <Button kind="primary" type="submit">
        {texts.show}
      </Button>
      <CsvLink name="usage" query={query} label={texts.csv} />
    </form>
  );
}

function Tables({ report }: { report: UsageReport }) {
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
        <Empty icon="overview" text={texts.empty} />
      </Card>
    );
  }
  const nameOf = (id: string | null, name: string | null) =>
    id === null ? texts.playground : name === null || name === '' ? `${id}…` : name;
  const amounts = (ms: number, sessions: number) => [
    number.format(sessions),
    formatAudio(ms, common),
    number.format(ms),
  ];
  const figures = [texts.sessions, texts.charged, texts.exact];
  return (
    <>
      <Card
        title={texts.byKey}
        lead={texts.totalOf(
          formatAudio(
            total(({ billableMs }) => billableMs),
            common,
          ),
          number.format(total(({ sessions }) => sessions)),
        )}
      >
        <FigureTable
          label={texts.byKey}
          names={[texts.key, texts.model]}
          figures={figures}
          rows={sums.map((sum) => ({
            id: sum.name,
            names: [nameOf(sum.keyId, sum.keyName), common.common.models[sum.model]],
            figures: amounts(sum.billableMs, sum.sessions),
          }))}
        />
      </Card>
      <Card title={texts.byDay}>
        <FigureTable
          label={texts.byDay}
          names={[texts.day, texts.key, texts.model]}
          figures={figures}
          rows={report.data.map((line) => ({
            id: `${line.day} ${line.key_id} ${line.model}`,
            names: [line.day, nameOf(line.key_id, line.key_name), common.common.models[line.model]],
            figures: amounts(line.billable_ms, line.sessions),
          }))}
        />
      </Card>
    </>
  );
}
