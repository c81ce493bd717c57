import type { LedgerAuditPage } from '@svc-asr/protocol/console/operator.ts';
import { formatAgo, numberFormat } from '../../app/format.ts';
import { useLanguage } from '../../app/language.tsx';
import { useLoad } from '../../app/use-load.ts';
import { Badge, Notice } from '../../design/feedback.tsx';
import { Card } from '../../design/surfaces.tsx';
import { useOperatorTexts } from '../../texts/operator.ts';
import { DataTable } from './parts/data-table.tsx';
import { isOldAudit } from './old-audit.ts';
import { OperatorPage } from './operator-page.tsx';

/** The invariants of the ledger and their last run. */
export function LedgerScreen() {
  const texts = useOperatorTexts().ledger;
  const { load, reload } = useLoad<LedgerAuditPage>('/operator/ledger');
  return (
    <OperatorPage place="ledger" lead={texts.lead} load={load} onRetry={() => void reload()}>
      {(page) => (
        <div className="grid gap-5">
          <Verdict page={page} />
          <Card>
            <Runs page={page} />
          </Card>
        </div>
      )}
    </OperatorPage>
  );
}

function Verdict({ page }: { page: LedgerAuditPage }) {
  const texts = useOperatorTexts().ledger;
  if (page.data.some(({ violations }) => violations > 0)) {
    return <Notice tone="bad">{texts.bad}</Notice>;
  }
  return page.data.some(({ ran_at }) => isOldAudit(ran_at, page.now)) ? (
    <Notice tone="warn">{texts.old}</Notice>
  ) : (
    <Notice tone="good">{texts.fine}</Notice>
  );
}

function Runs({ page }: { page: LedgerAuditPage }) {
  const { ledger: texts, none } = useOperatorTexts();
  const { language } = useLanguage();
  const number = numberFormat(language);
  return (
    <DataTable
      label={texts.invariant}
      rows={page.data}
      idOf={({ invariant }) => invariant}
      columns={[
        {
          name: texts.invariant,
          isTitle: true,
          cell: ({ invariant, about }) => (
            <>
              <code>{invariant}</code>
              {/* Written in English, next to the query. */}
              <span lang="en" className="block max-w-[60ch] text-xs font-normal text-ink-3">
                {about}
              </span>
            </>
          ),
        },
        { name: texts.result, cell: (run) => <Result run={run} /> },
        {
          name: texts.ran,
          cell: ({ ran_at }) =>
            ran_at === null ? none : formatAgo({ at: ran_at, now: page.now, language }),
        },
        {
          name: texts.took,
          isNumber: true,
          cell: ({ ran_at, took_ms }) =>
            ran_at === null ? none : texts.ms(number.format(took_ms)),
        },
      ]}
    />
  );
}

function Result({ run }: { run: LedgerAuditPage['data'][number] }) {
  const texts = useOperatorTexts().ledger;
  if (run.ran_at === null) return <Badge tone="warn">{texts.never}</Badge>;
  return run.violations === 0 ? (
    <Badge tone="good">{texts.holds}</Badge>
  ) : (
    <Badge tone="bad">{texts.broken(run.violations)}</Badge>
  );
}
