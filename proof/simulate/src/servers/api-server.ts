import { HistoryGuard } from '@svc-asr/server/ledger/history-guard.ts';
import { createLedger } from '@svc-asr/server/ledger/ledger.ts';
import { startSweeper } from '@svc-asr/server/nodes/sweeper.ts';
import { presentError, toApiError } from '@svc-asr/server/platform/api-error.ts';
import { systemClock } from '@svc-asr/server/platform/clock.ts';
import { newRequestId } from '@svc-asr/server/platform/ids.ts';
import {
  createRateLimiter,
  rateLimited,
  type RatePolicy,
} from '@svc-asr/server/platform/network/rate-limit.ts';
import { createCredentials } from '@svc-asr/server/sessions/credentials.ts';
import { openReservation, presentSession } from '@svc-asr/server/sessions/new-session.ts';
import { NodeRoster } from '@svc-asr/server/sessions/placement.ts';
import { isModelId, LIMITS, type CreateSessionRequest } from '@svc-asr/protocol';
import { Registry } from 'prom-client';
import type { HttpAnswer, HttpRequest, HttpServer } from '../virtual/http.ts';
import { startIn, VirtualProcess } from '../virtual/process.ts';
import { KEY_PREFIX, settingsOf } from './settings.ts';
import type { Surroundings } from './surroundings.ts';

/** A process that creates sessions: the real placement, reservation, history guard and sweeper. */
export interface ApiServer extends HttpServer {
  readonly history: HistoryGuard;
  stop(drainMs: number): Promise<void>;
}

export interface ApiPlan {
  readonly id: string;
  readonly rate: number;
  /** The limit on requests of one account. Without it there is none. */
  readonly sessions?: RatePolicy;
}

export function startApiServer(
  plan: ApiPlan,
  around: Surroundings,
): { readonly process: VirtualProcess; readonly started: Promise<ApiServer> } {
  const process = new VirtualProcess(plan.id, { rate: plan.rate });
  return { process, started: startIn(process, () => start(process, plan, around)) };
}

async function start(
  process: VirtualProcess,
  { id, sessions }: ApiPlan,
  around: Surroundings,
): Promise<ApiServer> {
  const { log } = around;
  const config = settingsOf(id);
  const history = new HistoryGuard({ nodeId: id, log });
  const { verify } = history;
  const db = around.openPool(process, { name: 'main', connections: 10, verify });
  const sweeperDb = around.openPool(process, { name: 'sweeper', connections: 1, verify });
  const rosterDb = around.openPool(process, { name: 'nodes', connections: 1, verify });
  const ledger = history.guard(createLedger(db));
  const placement = new NodeRoster(log);
  const credentials = createCredentials(config.secrets.signingKeys);
  const lifecycle = { draining: false, drainDeadlineAtMs: null, checks: [], warnings: [] };
  const deps = { ledger, placement, credentials, lifecycle, clock: systemClock, db };
  const limiter = sessions === undefined ? null : createRateLimiter(sessions, systemClock);
  const stopHistory = await history.watch(db);
  const stopRoster = await placement.watch(rosterDb);
  const sweeper = startSweeper({
    ledger: history.guard(createLedger(sweeperDb)),
    log,
    registry: new Registry(),
  });

  async function createSession({ headers, body }: HttpRequest): Promise<HttpAnswer> {
    const { model, max_audio_seconds } = readBody(body);
    const accountId = (headers.get('authorization') ?? '').slice(`Bearer ${KEY_PREFIX}`.length);
    const decision = limiter?.take(accountId);
    if (limiter !== null && decision?.allowed === false) {
      throw rateLimited('sessions', limiter, decision);
    }
    const { session, replayed } = await openReservation(deps, {
      accountId,
      keyId: null,
      model,
      requestedMs: (max_audio_seconds ?? LIMITS.audioSecondsDefault) * 1000,
      idempotencyKey: headers.get('idempotency-key'),
    });
    return {
      status: 201,
      headers: replayed ? { 'idempotent-replayed': 'true' } : {},
      body: presentSession(session, deps),
    };
  }

  return {
    owner: process,
    history,
    answer: (request) =>
      createSession(request).catch((error: unknown): HttpAnswer => {
        const visible = toApiError(error);
        const { retryAfterSeconds: seconds } = visible;
        return {
          status: visible.status,
          headers: { ...visible.headers, ...(seconds && { 'retry-after': String(seconds) }) },
          body: presentError(visible, newRequestId()),
        };
      }),
    stop: () =>
      startIn(process, async () => {
        lifecycle.draining = true;
        await sweeper.stop();
        await stopRoster();
        await stopHistory();
        await Promise.all([db.end(), sweeperDb.end(), rosterDb.end()]);
      }),
  };
}

function readBody(body: string) {
  const { model, max_audio_seconds }: CreateSessionRequest = JSON.parse(body);
  if (!isModelId(model)) throw new TypeError('A simulated client asked for an unknown model.');
  return { model, max_audio_seconds };
}
