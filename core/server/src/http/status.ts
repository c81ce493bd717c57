import type { FastifyInstance } from 'fastify';
import type { Deps } from '../deps.ts';
import { readHistory } from '../nodes/status/history.ts';
import { incidentFeed } from '../nodes/status/incident-feed.ts';
import { probe, type ApiState } from '../nodes/status/probe.ts';
import { cached } from '../platform/cached.ts';

/** The routes are public and not rate limited, so their queries run at most this often, however many people ask. */
export const STATUS_FRESH_MS = 5_000;
const HISTORY_FRESH_MS = 60_000;

/** Serves the current status, its history of 90 days, and the incidents that operators wrote as an Atom feed. */
export function statusRoutes(app: FastifyInstance, deps: Deps): void {
  const report = cached(() => probe(deps.db, apiState(deps)), STATUS_FRESH_MS, deps.clock);
  const history = cached(() => readHistory(deps.db), HISTORY_FRESH_MS, deps.clock);
  app.get('/status.json', async (_request, reply) => {
    void reply.header('cache-control', `public, max-age=${STATUS_FRESH_MS / 1_000}`);
    return report();
  });
  app.get('/status/history.json', async (_request, reply) => {
    const body = await history();
    void reply.header('cache-control', `public, max-age=${HISTORY_FRESH_MS / 1_000}`);
    return body;
  });
  app.get('/status/incidents.atom', async (_request, reply) => {
    const { incidents, written_at: at } = await history();
    void reply
      .type('application/atom+xml; charset=utf-8')
      .header('cache-control', `public, max-age=${HISTORY_FRESH_MS / 1_000}`);
    return incidentFeed(incidents, { url: deps.config.console.publicUrl, at });
  });
}

export function apiState({ lifecycle }: Deps): ApiState {
  if (lifecycle.draining) return 'draining';
  return lifecycle.checks.every((holds) => holds()) ? 'ready' : 'not_ready';
}
