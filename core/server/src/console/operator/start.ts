import type { OperatorStart } from '@svc-asr/protocol/console/operator.ts';
import type { FastifyInstance } from 'fastify';
import { operatorInbox } from '../../accounts/operator-inbox.ts';
import { readInvariants } from '../../ledger/reports/audit.ts';
import { listAuditRuns } from '../../ledger/reports/audit-runs.ts';
import { countStreams } from '../../ledger/reports/day-figures.ts';
import { listNodes } from '../../nodes/nodes.ts';
import { listIncidents } from '../../nodes/status/incidents.ts';
import { cached } from '../../platform/cached.ts';
import { databaseTime } from '../../platform/database/time.ts';
import type { ConsoleDeps } from '../deps.ts';

const WEEK_HOURS = 168;
/** A day's streams are read for each count of them. */
const STREAMS_FRESH_MS = 60_000;

/** Serves the figures of the operators' start page. */
export function operatorStartRoutes(app: FastifyInstance, { db, service }: ConsoleDeps): void {
  const countCached = (endedHoursAgo: number) =>
    cached(() => countStreams(db, { endedHoursAgo }), STREAMS_FRESH_MS, service.clock);
  const countToday = countCached(0);
  const countWeekAgo = countCached(WEEK_HOURS);
  app.get('/operator/start', async (): Promise<OperatorStart> => {
    const [inbox, nodes, runs, invariants, incidents, day, weekAgo, now] = await Promise.all([
      operatorInbox(db),
      listNodes(db),
      listAuditRuns(db),
      readInvariants(),
      listIncidents(db, { days: 1 }),
      countToday(),
      countWeekAgo(),
      databaseTime(db),
    ]);
    const count = (state: string) => nodes.filter((node) => node.state === state).length;
    const live = nodes.filter(({ state }) => state === 'live');
    const oldestRun = runs.map(({ ran_at }) => ran_at.toISOString()).toSorted()[0];
    const isComplete = invariants.every(({ name }) => runs.some((run) => run.invariant === name));
    return {
      waitlist: inbox.waitlist,
      waitlist_since: inbox.waitlist_since?.toISOString() ?? null,
      requests: inbox.requests,
      requests_since: inbox.requests_since?.toISOString() ?? null,
      failed_day: inbox.failures,
      failed_weekend: inbox.weekend,
      nodes: { live: live.length, draining: count('draining'), lost: count('expired') },
      slots: {
        used: live.reduce((sum, { active }) => sum + active, 0),
        all: live.reduce((sum, { capacity }) => sum + capacity, 0),
      },
      audited_at: isComplete ? (oldestRun ?? null) : null,
      violations: runs.reduce((sum, { violations }) => sum + violations, 0),
      incidents: incidents.filter(({ ended_at }) => ended_at === null).map(({ text }) => text),
      day: { ...day },
      week_ago: { ...weekAgo },
      now: now.toISOString(),
    };
  });
}
