import { useState } from 'react';
import { CONSOLE_LIMITS } from '@svc-asr/protocol/console/constants.ts';
import type { ConsoleSession, Me, Overview } from '@svc-asr/protocol/console/console.ts';
import { useConnection } from '../../app/connection.ts';
import { formatAgo, formatAudio } from '../../app/format.ts';
import { useLanguage, useTexts } from '../../app/language.tsx';
import { lazyScreen } from '../../design/lazy-screen.tsx';
import { Link } from '../../app/router.tsx';
import { CardSkeleton, Empty, Loaded } from '../../design/feedback.tsx';
import { Card, PageHead } from '../../design/surfaces.tsx';
import { CreditGauge } from './credit-gauge.tsx';
import { daysLeft, fillDays } from './days.ts';
import { isLive } from './follow-live.ts';
import { SessionList } from './session-list.tsx';
import { UsageChart } from './usage-chart.tsx';
import { useOverview } from './use-overview.ts';

export function OverviewScreen({ me }: { me: Me }) {
  const texts = useTexts();
  const { load, reload, refresh } = useOverview();
  return (
    <>
      <PageHead title={texts.overview.title}>
        <Link href="/app/playground" className="button button-primary">
          {texts.overview.openPlayground}
        </Link>
      </PageHead>
      <Loaded load={load} skeleton={<OverviewSkeleton />} onRetry={() => void reload()}>
        {(overview) => <OverviewBody overview={overview} me={me} refresh={refresh} />}
      </Loaded>
    </>
  );
}

// Only for new accounts, so it loads on demand.
const FirstRunCard = lazyScreen(() => import('./first-run-card.tsx'));

const COLUMNS = 'grid grid-cols-[minmax(0,1fr)] gap-5 xl:grid-cols-[minmax(0,2fr)_minmax(0,3fr)]';

function OverviewSkeleton() {
  return (
    <div className="grid gap-5">
      <div className={COLUMNS}>
        <CardSkeleton rows={5} />
        <CardSkeleton rows={5} />
      </div>
      <CardSkeleton rows={6} />
    </div>
  );
}

function OverviewBody(props: { overview: Overview; me: Me; refresh: () => Promise<void> }) {
  const { overview, me, refresh } = props;
  const texts = useTexts();
  // The card stays when its last step is done, until the page is opened again.
  const [isNew] = useState(() => !Object.values(overview.first_run).every(Boolean));
  const live = overview.sessions.find(isLive);
  const days = fillDays({
    days: overview.days,
    now: overview.now,
    count: CONSOLE_LIMITS.usageDays,
  });
  const left = daysLeft(overview.available_ms, days);
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-5">
      {live !== undefined && <LiveSession session={live} now={overview.now} />}
      {isNew && <FirstRunCard me={me} first={overview.first_run} onStep={() => void refresh()} />}
      <div className={COLUMNS}>
        <Card
          title={texts.overview.credit}
          aside={
            <Link href="/app/credit" className="rounded-sm text-sm underline underline-offset-4">
              {texts.overview.request}
            </Link>
          }
        >
          <CreditGauge balance={overview} />
          <p className="mt-4 border-t border-line pt-4 text-sm text-ink-2">
            {left !== null && `${texts.overview.daysLeft(left)} `}
            {texts.overview.atOnce(overview.concurrency_limit)}{' '}
            <a className="underline underline-offset-4" href="/docs/concepts/limits">
              {texts.overview.limits}
            </a>
          </p>
        </Card>
        <Card
          title={texts.overview.usage}
          aside={
            <Link href="/app/usage" className="rounded-sm text-sm underline underline-offset-4">
              {texts.overview.allUsage}
            </Link>
          }
        >
          {days.some((day) => day.totalMs > 0) ? (
            <UsageChart days={days} />
          ) : (
            <p className="grid min-h-48 place-items-center rounded-md bg-muted px-4 text-center text-sm text-ink-2">
              {texts.overview.usageEmpty}
            </p>
          )}
        </Card>
      </div>
      <Card
        title={texts.overview.sessions}
        aside={
          <Link href="/app/sessions" className="rounded-sm text-sm underline underline-offset-4">
            {texts.overview.allSessions}
          </Link>
        }
      >
        {overview.sessions.length === 0 ? (
          <Empty
            icon="playground"
            title={texts.overview.sessionsEmptyTitle}
            text={texts.overview.sessionsEmpty}
          />
        ) : (
          <SessionList sessions={overview.sessions} now={overview.now} />
        )}
      </Card>
    </div>
  );
}

function LiveSession({ session, now }: { session: ConsoleSession; now: string }) {
  const texts = useTexts();
  const { language } = useLanguage();
  const model = texts.common.models[session.model];
  const limit = formatAudio(session.reserved_ms, texts);
  const active = session.status === 'active';
  const { trouble } = useConnection();
  // Whether it is still active is unknown until the server answers.
  const known = trouble === null;
  const title = active ? (known ? 'live' : 'liveBefore') : known ? 'waiting' : 'waitingBefore';
  return (
    <section className="flex items-center gap-3.5 rounded-lg bg-accent-soft px-5 py-4 text-accent-strong">
      <span aria-hidden="true" className="relative grid size-3 place-items-center">
        {known && (
          <span className="absolute size-3 animate-ping rounded-full bg-accent opacity-50" />
        )}
        <span className="size-2.5 rounded-full bg-accent" />
      </span>
      <div className="text-sm">
        {/* Only a change of the state is announced, not every new "seconds ago". */}
        <h2 aria-live="polite" className="font-semibold">
          {texts.overview[title]}
        </h2>
        <p>
          {active
            ? texts.overview.liveFor(
                model,
                formatAgo({ at: session.created_at, now, language }),
                formatAudio(session.audio_ms, texts),
                limit,
              )
            : texts.overview.waitingFor(model, limit)}
        </p>
      </div>
    </section>
  );
}
