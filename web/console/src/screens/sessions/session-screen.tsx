import { useState } from 'react';
import { CONSOLE_LIMITS } from '@svc-asr/protocol/console/constants.ts';
import type { SessionReport } from '@svc-asr/protocol/console/sessions.ts';
import { formatAudio, formatDateTime, LOCALES } from '../../app/format.ts';
import { useLanguage, useTexts } from '../../app/language.tsx';
import { Link } from '../../app/router.tsx';
import { useLoad, type Load } from '../../app/use-load.ts';
import { Button } from '../../design/controls.tsx';
import { CardSkeleton, Loaded, Notice } from '../../design/feedback.tsx';
import { Card, PageHead } from '../../design/surfaces.tsx';
import { useSessionTexts } from '../../texts/sessions.ts';
import { explainCharge } from '../overview/explain-charge.ts';
import { LedgerTable } from './ledger-table.tsx';
import { StatusBadge } from './status-badge.tsx';
import { StreamFacts } from './stream-facts.tsx';
import { stepsOf } from './time-line.ts';

/** Everything that is known about one session, without its words. */
export default function SessionScreen({ id }: { id: string }) {
  const texts = useSessionTexts();
  const { load, reload } = useLoad<SessionReport>(`/sessions/${id}`);
  const back = { href: '/app/sessions', label: texts.back };
  return <SessionPage load={load} back={back} onRetry={() => void reload()} />;
}

/** The same for members and operators. */
export function SessionPage(props: {
  load: Load<SessionReport>;
  back: { readonly href: string; readonly label: string };
  onRetry: () => void;
}) {
  const texts = useSessionTexts();
  const common = useTexts();
  const { load, back } = props;
  const model = load.state === 'ready' ? common.common.models[load.data.model] : null;
  return (
    <>
      <Link
        href={back.href}
        className="mb-3 inline-block rounded-sm text-sm text-ink-2 underline underline-offset-4"
      >
        {back.label}
      </Link>
      <PageHead title={model === null ? common.nav.sessions : texts.title(model)}>
        {load.state === 'ready' && <CopyForSupport session={load.data} />}
      </PageHead>
      <Loaded load={load} skeleton={<CardSkeleton rows={6} />} onRetry={props.onRetry}>
        {(session) => <Report session={session} />}
      </Loaded>
    </>
  );
}

function Report({ session }: { session: SessionReport }) {
  const texts = useSessionTexts();
  const common = useTexts();
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
      <Notice tone="info">{texts.noText(CONSOLE_LIMITS.sessionDetailsDays)}</Notice>
      <div className="grid gap-5 lg:grid-cols-2">
        <Card title={texts.timeline} aside={<StatusBadge status={session.status} />}>
          <TimeLine session={session} />
        </Card>
        <Card title={texts.quality}>
          <StreamFacts session={session} />
        </Card>
      </div>
      <Card title={texts.receipt} lead={explainCharge(session, common)}>
        <h3 className="mb-2 text-sm font-medium">{texts.ledger}</h3>
        <LedgerTable lines={session.transactions} />
      </Card>
    </div>
  );
}

function TimeLine({ session }: { session: SessionReport }) {
  const texts = useSessionTexts();
  const common = useTexts();
  const { language } = useLanguage();
  const from = session.origin ?? session.client;
  const steps = stepsOf(session, texts, {
    reserved: formatAudio(session.reserved_ms, common),
    client: from === null ? '' : `, ${[session.origin, session.client].filter(Boolean).join(', ')}`,
  });
  const clock = new Intl.DateTimeFormat(LOCALES[language], { timeStyle: 'medium' });
  const number = new Intl.NumberFormat(LOCALES[language], { maximumFractionDigits: 2 });
  const start = Date.parse(session.created_at);
  return (
    <>
      <p className="mb-3 text-sm text-ink-3">{formatDateTime(session.created_at, language)}</p>
      <ol className="grid gap-3 border-l border-line pl-4">
        {steps.map(({ name, at, note }) => (
          <li key={name} className="relative">
            <span
              aria-hidden="true"
              className="absolute top-1.5 -left-[1.3125rem] size-2.5 rounded-full bg-accent"
            />
            <p className="flex flex-wrap justify-between gap-x-4 text-sm">
              <span className="font-medium">{name}</span>
              {at !== null && (
                <span className="text-ink-3 tabular-nums">
                  {clock.format(at)}{' '}
                  {at > start &&
                    texts.after(common.time.seconds(number.format((at - start) / 1_000)))}
                </span>
              )}
            </p>
            {note !== undefined && <p className="text-sm wrap-anywhere text-ink-2">{note}</p>}
          </li>
        ))}
      </ol>
    </>
  );
}

/** Copies the whole report as JSON. It has no secret, no text and no audio. */
function CopyForSupport({ session }: { session: SessionReport }) {
  const texts = useSessionTexts();
  const common = useTexts();
  const [copied, setCopied] = useState(false);
  async function copy(): Promise<void> {
    await navigator.clipboard.writeText(JSON.stringify(session, null, 2));
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  }
  return (
    <Button icon={copied ? 'check' : 'copy'} onClick={() => void copy()}>
      <span aria-live="polite">{copied ? common.common.copied : texts.copy}</span>
    </Button>
  );
}
