import { useState } from 'react';
import type { ConsoleLanguage } from '@svc-asr/protocol/console/console.ts';
import { CONSOLE_LIMITS } from '@svc-asr/protocol/console/constants.ts';
import type { SessionReport } from '@svc-asr/protocol/console/sessions.ts';
import { formatAudio, formatExact, LOCALES, zonedFormat } from '../../app/format.ts';
import { useLanguage, useTexts } from '../../app/language.tsx';
import { Link } from '../../app/router.tsx';
import { useLoad, type Load } from '../../app/use-load.ts';
import { Button } from '../../design/controls.tsx';
import { CardSkeleton, Loaded } from '../../design/feedback.tsx';
import { Card, PageHead } from '../../design/surfaces.tsx';
import type { Texts } from '../../texts/en.ts';
import { useSessionTexts, type SessionTexts } from '../../texts/sessions.ts';
import { OutcomeBadge } from './outcome-badge.tsx';
import { ReceiptLines } from './receipt-lines.tsx';
import { StreamFacts } from './stream-facts.tsx';
import { stepsOf } from './time-line.ts';
import { WhatHappened } from './what-happened.tsx';

/** Everything that is known about one session, without its words. */
export default function SessionScreen({ id }: { id: string }) {
  const texts = useSessionTexts();
  const { load, reload } = useLoad<SessionReport>(`/sessions/${id}`);
  const back = { href: '/app/sessions', label: texts.back };
  return <SessionPage load={load} back={back} hasList onRetry={() => void reload()} />;
}

/** The same for members and operators. */
export function SessionPage(props: {
  load: Load<SessionReport>;
  back: { readonly href: string; readonly label: string };
  /** Whether the reader has a list of this account's sessions. */
  hasList: boolean;
  onRetry: () => void;
}) {
  const texts = useSessionTexts();
  const common = useTexts();
  const { load, back } = props;
  const { language } = useLanguage();
  const session = load.state === 'ready' ? load.data : null;
  return (
    <>
      <Link
        href={back.href}
        className="mb-3 inline-block rounded-sm text-sm text-ink-2 underline underline-offset-4"
      >
        {back.label}
      </Link>
      <PageHead
        title={
          session === null ? common.nav.sessions : texts.title(common.common.models[session.model])
        }
        mark={session !== null && <OutcomeBadge outcome={session.outcome} />}
        {...(session === null ? {} : { lead: summaryOf(session, { texts, common, language }) })}
        isWide
      >
        {session !== null && <CopyForSupport session={session} />}
      </PageHead>
      <Loaded load={load} skeleton={<CardSkeleton rows={6} />} onRetry={props.onRetry}>
        {(session) => <Report session={session} hasList={props.hasList} />}
      </Loaded>
    </>
  );
}

function Report({ session, hasList }: { session: SessionReport; hasList: boolean }) {
  const texts = useSessionTexts();
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
      <WhatHappened session={session} hasList={hasList} />
      <div className="grid grid-cols-[minmax(0,1fr)] gap-5 lg:grid-cols-2">
        <Card title={texts.timeline}>
          <TimeLine session={session} />
        </Card>
        <Card title={texts.quality}>
          <StreamFacts session={session} />
        </Card>
      </div>
      <Card title={texts.receipt}>
        <ReceiptLines session={session} />
      </Card>
      <p className="text-xs text-ink-3">{texts.noText(CONSOLE_LIMITS.sessionDetailsDays)}</p>
    </div>
  );
}

/** When it was, from where, and what it cost, in one line. */
function summaryOf(
  session: SessionReport,
  { texts, common, language }: { texts: SessionTexts; common: Texts; language: ConsoleLanguage },
): string {
  const keyName = session.key_name === '' ? `${session.key_id}…` : session.key_name;
  const facts = texts.facts({
    key: keyName === null ? texts.playground : texts.keyNamed(keyName),
    client: session.origin ?? session.client ?? '',
    audio: formatExact(session.audio_ms, common),
    charged: formatAudio(session.billable_ms, common),
  });
  const when = zonedFormat(language).format(new Date(session.created_at));
  return [when, ...facts].filter((fact) => fact !== '').join(' · ');
}

function TimeLine({ session }: { session: SessionReport }) {
  const texts = useSessionTexts();
  const common = useTexts();
  const { language } = useLanguage();
  const from = session.origin ?? session.client;
  const charged = formatAudio(session.billable_ms, common);
  const returned = formatAudio(session.reserved_ms - session.billable_ms, common);
  const steps = stepsOf(session, texts, {
    reserved: formatAudio(session.reserved_ms, common),
    client: from === null ? '' : `, ${[session.origin, session.client].filter(Boolean).join(', ')}`,
    settled: texts.steps.settledWith(charged, returned),
  });
  const clock = new Intl.DateTimeFormat(LOCALES[language], { timeStyle: 'medium' });
  const number = new Intl.NumberFormat(LOCALES[language], { maximumFractionDigits: 2 });
  const start = Date.parse(session.created_at);
  return (
    <ol className="grid gap-3">
      {steps.map(({ name, at, note, isBad = false }) => (
        <li key={name} className="grid grid-cols-[4.25rem_auto_minmax(0,1fr)] gap-x-3 text-sm">
          <span className="whitespace-nowrap text-ink-3 tabular-nums">
            {at === null
              ? ''
              : at > start
                ? texts.after(common.time.seconds(number.format((at - start) / 1_000)))
                : clock.format(at)}
          </span>
          <span
            aria-hidden="true"
            className={`mt-1.5 size-2.5 rounded-full ${isBad ? 'bg-danger' : 'bg-accent'}`}
          />
          <p>
            <span className={`font-medium ${isBad ? 'text-danger' : ''}`}>{name}</span>
            {note !== undefined && <span className="block wrap-anywhere text-ink-2">{note}</span>}
          </p>
        </li>
      ))}
    </ol>
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
