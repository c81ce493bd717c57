import type { ConsoleSession } from '@svc-asr/protocol/console/console.ts';
import { formatAgo, formatAudio, formatDateTime, formatExact } from '../../app/format.ts';
import { useLanguage, useTexts } from '../../app/language.tsx';
import { Link } from '../../app/router.tsx';
import { OutcomeBadge } from '../sessions/outcome-badge.tsx';
import { explainCharge } from './explain-charge.ts';

/** The recent sessions: a table on wide screens, cards on phones. */
export function SessionList({ sessions, now }: { sessions: ConsoleSession[]; now: string }) {
  const texts = useTexts();
  const columns = texts.overview.columns;
  return (
    <table className="w-full text-left text-sm max-lg:block">
      <caption className="sr-only">{texts.overview.sessions}</caption>
      <thead className="text-xs text-ink-3 max-lg:sr-only">
        <tr className="[&>th]:pb-2 [&>th]:font-medium [&>th+th]:pl-5">
          <th>{columns.started}</th>
          <th>{columns.model}</th>
          <th>{columns.status}</th>
          <th className="text-right">{columns.audio}</th>
          <th className="text-right">{columns.charged}</th>
          <th>{columns.why}</th>
        </tr>
      </thead>
      <tbody className="max-lg:block">
        {sessions.map((session) => (
          <SessionRow key={session.id} session={session} now={now} />
        ))}
      </tbody>
    </table>
  );
}

function SessionRow({ session, now }: { session: ConsoleSession; now: string }) {
  const texts = useTexts();
  const { language } = useLanguage();
  const over = session.completed_at !== null;
  return (
    <tr className="border-t border-line align-baseline max-lg:grid max-lg:grid-cols-[1fr_auto] max-lg:gap-x-3 max-lg:gap-y-1 max-lg:py-3.5 lg:[&>td]:py-3 lg:[&>td+td]:pl-5">
      <td className="whitespace-nowrap max-lg:col-start-1 max-lg:row-start-2 max-lg:text-xs max-lg:text-ink-3">
        <Link
          href={`/app/sessions/${session.id}`}
          title={formatDateTime(session.created_at, language)}
          className="rounded-sm underline underline-offset-4"
        >
          {formatAgo({ at: session.created_at, now, language })}
        </Link>
      </td>
      <td className="max-lg:col-start-1 max-lg:row-start-1 max-lg:font-medium">
        {texts.common.models[session.model]}
      </td>
      <td className="max-lg:col-start-2 max-lg:row-start-1">
        <OutcomeBadge outcome={session.outcome} />
      </td>
      <td className="text-right whitespace-nowrap tabular-nums max-lg:hidden">
        {over ? formatExact(session.audio_ms, texts) : texts.playground.noneYet}
      </td>
      <td className="text-right font-medium whitespace-nowrap tabular-nums max-lg:col-start-2 max-lg:row-start-2">
        {over ? formatAudio(session.billable_ms, texts) : texts.playground.noneYet}
      </td>
      <td className="text-ink-2 max-lg:col-span-2 max-lg:row-start-3">
        {explainCharge(session, texts)}
      </td>
    </tr>
  );
}
