import type { ConsoleSession, Overview, OverviewLive } from '@svc-asr/protocol/console/console.ts';

/** The overview with new figures. Null: a session began or ended, so that everything is needed again. */
export function follow(overview: Overview, live: OverviewLive): Overview | null {
  const known = overview.sessions.filter(isLive).map(({ id }) => id);
  const ids = live.sessions.map(({ id }) => id);
  if (known.join() !== ids.join()) return null;
  const newest = new Map(live.sessions.map((session) => [session.id, session]));
  const sessions = overview.sessions.map((session) => newest.get(session.id) ?? session);
  return { ...overview, ...live, sessions };
}

export function isLive(session: ConsoleSession): boolean {
  return session.completed_at === null;
}
