import type { SessionReport } from '@svc-asr/protocol/console/sessions.ts';
import { useTexts } from '../../app/language.tsx';
import { Link } from '../../app/router.tsx';
import { useOutcomeTexts, type OutcomeTexts } from '../../texts/outcomes.ts';
import { explainCharge } from '../overview/explain-charge.ts';

/** Causes that a client never sees as an error, because the connection broke. */
const WITHOUT_ERROR = new Set(['node_lost', 'node_lost_before_start']);

/** The first card of a session: what happened in one sentence, whether to retry and what to do. */
export function WhatHappened(props: {
  session: SessionReport;
  /** Operators have no list of their own to look for similar sessions. */
  hasList: boolean;
}) {
  const { session } = props;
  const texts = useOutcomeTexts();
  const common = useTexts();
  const { outcome, cause } = session;
  const isProblem = outcome === 'error' || outcome === 'failed';
  const told = cause === null ? undefined : texts.causes[cause];
  return (
    <section
      aria-labelledby="what-happened"
      className={`card p-5 sm:p-6 ${isProblem ? 'border-danger' : ''}`}
    >
      <p className={`text-sm font-semibold ${isProblem ? 'text-danger' : 'text-ink-3'}`}>
        {texts.title}
      </p>
      <h2 id="what-happened" className="mt-1 text-lg sm:text-xl">
        {told?.title ?? titleOf(session, texts)}
      </h2>
      <p className="mt-2 max-w-[75ch] text-ink-2">
        {told === undefined ? (
          <>
            {explainCharge(session, common)} {outcome === 'expired' && texts.expiredTodo}
          </>
        ) : (
          <>
            {told.why} <strong className="text-ink">{texts.retries[told.retry]}</strong> {told.todo}
          </>
        )}
      </p>
      {isProblem && (
        <div className="mt-4 flex flex-wrap items-center gap-x-4 gap-y-3 text-sm">
          {cause !== null && (
            <a
              href={WITHOUT_ERROR.has(cause) ? '/docs/streaming#close-codes' : docsOf(cause)}
              className="button button-secondary"
            >
              <span>
                <code>{cause}</code> {texts.docs}
              </span>
            </a>
          )}
          {props.hasList && (
            <Link href="/app/sessions?status=problem" className="link">
              {texts.similar}
            </Link>
          )}
          <span className="text-ink-3">
            {[
              ...(session.close_code === null ? [] : [texts.closeCode(session.close_code)]),
              outcome === 'failed' ? texts.ours : texts.yours,
            ].join(' · ')}
          </span>
        </div>
      )}
    </section>
  );
}

function docsOf(cause: string): string {
  return `/docs/errors#stream-${cause}`;
}

function titleOf(session: SessionReport, texts: OutcomeTexts): string {
  switch (session.outcome) {
    case 'reserved':
      return texts.reserved;
    case 'active':
      return texts.active;
    case 'expired':
      return texts.expired;
    case 'error':
      return texts.otherError;
    case 'failed':
      return texts.otherFailure;
    case 'completed':
      if (session.close_reason === 'max_audio_reached') return texts.limit;
      return session.audio_ms === 0 ? texts.noAudio : texts.completed;
  }
}
