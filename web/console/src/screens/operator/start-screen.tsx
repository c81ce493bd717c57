import type { ReactNode } from 'react';
import type { OperatorStart } from '@svc-asr/protocol/console/operator.ts';
import { formatAgo, formatAudio, numberFormat } from '../../app/format.ts';
import { useLanguage, useTexts } from '../../app/language.tsx';
import { Link } from '../../app/router.tsx';
import { useLoad } from '../../app/use-load.ts';
import { Button } from '../../design/controls.tsx';
import { Icon } from '../../design/icons.tsx';
import { Card } from '../../design/surfaces.tsx';
import { useOperatorTexts } from '../../texts/operator.ts';
import { OperatorPage } from './operator-page.tsx';
import { isOldAudit } from './old-audit.ts';
import { at, OPERATOR_PATHS } from './paths.ts';

/** Where an operator begins on a Monday morning: what waits, what is broken, how much is used. It changes nothing. */
export function StartScreen() {
  const texts = useOperatorTexts();
  const { load, reload, refresh } = useLoad<OperatorStart>('/operator/start');
  return (
    <OperatorPage
      place="start"
      lead={texts.start.lead}
      load={load}
      onRetry={() => void reload()}
      aside={<Button onClick={() => void refresh()}>{texts.refresh}</Button>}
    >
      {(start) => (
        <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
          <ToDo start={start} />
          <Now start={start} />
          <Day start={start} />
        </div>
      )}
    </OperatorPage>
  );
}

interface Task {
  readonly title: string;
  readonly note: ReactNode;
  readonly href: string;
  /** Something is broken. Otherwise somebody waits. */
  readonly isBad: boolean;
}

function ToDo({ start }: { start: OperatorStart }) {
  const texts = useOperatorTexts().start;
  const tasks = useTasks(start);
  return (
    <Card title={texts.todo}>
      {tasks.length === 0 ? (
        <p className="flex items-center gap-2.5 text-accent-strong">
          <Icon name="check" />
          {texts.nothing}
        </p>
      ) : (
        <ul className="divide-y divide-line">
          {tasks.map(({ title, note, href, isBad }) => (
            <li key={title} className="flex items-start gap-3 py-3 first:pt-0 last:pb-0">
              <span className={isBad ? 'text-danger' : 'text-warn'}>
                <Icon name={isBad ? 'warning' : 'info'} />
              </span>
              <span className="min-w-0">
                <Link
                  href={href}
                  className="rounded-sm font-medium wrap-anywhere underline underline-offset-4"
                >
                  {title}
                </Link>
                <span className="block text-sm text-ink-2">{note}</span>
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

/** What is broken comes before who waits. */
function useTasks(start: OperatorStart): Task[] {
  const texts = useOperatorTexts().start;
  const { language } = useLanguage();
  const number = numberFormat(language);
  const since = (time: string | null) =>
    time === null ? '' : texts.since(formatAgo({ at: time, now: start.now, language }));
  const runbook = (name: string) => (
    <a
      className="rounded-sm underline underline-offset-4"
      href={`/docs/operations/runbooks#${name.toLowerCase()}`}
    >
      {texts.runbook(name)}
    </a>
  );
  const broken: (Omit<Task, 'isBad'> | null)[] = [
    start.nodes.live > 0
      ? null
      : { title: texts.noNodes, note: texts.noNodesNote, href: OPERATOR_PATHS.nodes },
    start.violations === 0
      ? null
      : {
          title: texts.ledger(start.violations),
          note: runbook('SvcLedgerAuditFailing'),
          href: OPERATOR_PATHS.ledger,
        },
    isOldAudit(start.audited_at, start.now)
      ? {
          title: texts.unaudited,
          note: runbook('SvcLedgerAuditMissing'),
          href: OPERATOR_PATHS.ledger,
        }
      : null,
    start.nodes.lost === 0
      ? null
      : { title: texts.lost(start.nodes.lost), note: texts.lostNote, href: OPERATOR_PATHS.nodes },
    start.failed_weekend === 0
      ? null
      : {
          title: texts.failures(start.failed_weekend),
          note: texts.failedIn(
            number.format(start.failed_day),
            number.format(start.failed_weekend - start.failed_day),
          ),
          href: at(OPERATOR_PATHS.failures, {
            hours: start.failed_weekend > start.failed_day ? '168' : null,
          }),
        },
  ];
  const waits: (Omit<Task, 'isBad'> | null)[] = [
    ...start.incidents.map((text) => ({
      title: texts.incident(text),
      note: texts.incidentNote,
      href: at(OPERATOR_PATHS.audit, { kind: 'operators' }),
    })),
    start.requests === 0
      ? null
      : {
          title: texts.requests(start.requests),
          note: since(start.requests_since),
          href: OPERATOR_PATHS.requests,
        },
    start.waitlist === 0
      ? null
      : {
          title: texts.people(start.waitlist),
          note: since(start.waitlist_since),
          href: OPERATOR_PATHS.waitlist,
        },
  ];
  return [
    ...broken.filter((task) => task !== null).map((task) => ({ ...task, isBad: true })),
    ...waits.filter((task) => task !== null).map((task) => ({ ...task, isBad: false })),
  ];
}

function Now({ start }: { start: OperatorStart }) {
  const operator = useOperatorTexts();
  const texts = operator.start;
  const { language } = useLanguage();
  const number = numberFormat(language);
  const { nodes, slots, audited_at: auditedAt, now } = start;
  return (
    <Figures
      title={texts.health}
      figures={[
        [
          texts.nodes,
          number.format(nodes.live),
          nodes.draining === 0 ? '' : texts.draining(number.format(nodes.draining)),
        ],
        [texts.slots, operator.nodes.of(number.format(slots.used), number.format(slots.all)), ''],
        [
          texts.audit,
          auditedAt === null
            ? texts.never
            : start.violations === 0
              ? texts.holds
              : number.format(start.violations),
          auditedAt === null ? '' : formatAgo({ at: auditedAt, now, language }),
        ],
      ]}
    />
  );
}

function Day({ start }: { start: OperatorStart }) {
  const texts = useOperatorTexts().start;
  const common = useTexts();
  const { language } = useLanguage();
  const number = numberFormat(language);
  const { day, week_ago: before } = start;
  const audio = (ms: number) => formatAudio(ms, common);
  const figure = (
    name: string,
    now: number,
    then: number,
    show = (value: number) => number.format(value),
  ): Figure => [name, show(now), texts.before(show(then))];
  return (
    <Figures
      title={texts.day}
      figures={[
        figure(texts.streams, day.streams, before.streams),
        figure(texts.accounts, day.accounts, before.accounts),
        figure(texts.charged, day.charged_ms, before.charged_ms, audio),
        figure(texts.failed, day.failed, before.failed),
      ]}
    />
  );
}

type Figure = readonly [name: string, value: string, note: string];

function Figures({ title, figures }: { title: string; figures: readonly Figure[] }) {
  return (
    <Card title={title}>
      <dl className="grid grid-cols-2 gap-x-4 gap-y-5 lg:grid-cols-4">
        {figures.map(([name, value, note]) => (
          <div key={name}>
            <dt className="text-sm text-ink-2">{name}</dt>
            <dd className="mt-1 text-lg font-semibold tracking-tight tabular-nums">{value}</dd>
            <dd className="text-sm text-ink-3">{note}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}
