import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Engine, VoiceConfirmer } from '@svc-asr/engine/core.ts';
import { LIMITS, STREAM_PATH } from '@svc-asr/protocol';
import { guardSocket } from '@svc-asr/runtime/server-guard.ts';
import { WebSocketServer } from 'ws';
import type { ApiCall } from '../accounts/logs/call-log.ts';
import type { SessionCredential } from '../sessions/credentials.ts';
import type { Deps } from '../deps.ts';
import { clientAddress, trustProxies, type IsTrusted } from '@svc-asr/runtime/network.ts';
import { ApiError, toApiError } from '../platform/api-error.ts';
import type { Metrics } from '../platform/observe/metrics.ts';
import { newRequestId, REQUEST_ID_HEADER } from '../platform/ids.ts';
import type { CloseInput, GiveBackInput } from '../ledger/ledger.ts';
import type { NodeLease } from '../nodes/node-lease.ts';
import type { SessionDetails } from '../nodes/session-details.ts';
import { Connection, type ConnectionLimits } from './connection/connection.ts';
import { writeRefusal } from '../platform/network/raw-refusal.ts';
import { sleep } from '../platform/sleep.ts';
import { browserCloseCode, BrowserRefusals } from './upgrade/browser-refusal.ts';
import { describeClient } from './upgrade/describe-client.ts';
import { awaitLostAudio } from './await-lost-audio.ts';
import { OpenStreams } from './open-streams.ts';
import { Settlements, type Settlement } from './settlements.ts';
import { detailsRow } from './record/stream-record.ts';
import { createStreamMetrics, type StreamMetrics } from './record/stream-metrics.ts';
import { StreamTrace } from './record/stream-trace.ts';
import { SOCKET_OPTIONS, type StreamSocket } from './connection/stream-socket.ts';
import type { Ending } from './rules/stream-state.ts';
import {
  checkUpgrade,
  claimSession,
  checkOrigin,
  limitFailedUpgrades,
  proofIn,
  takeProtocols,
  type ClaimedSession,
} from './upgrade/upgrade.ts';

export interface GatewayDeps extends Pick<
  Deps,
  | 'config'
  | 'db'
  | 'log'
  | 'clock'
  | 'ledger'
  | 'credentials'
  | 'lifecycle'
  | 'limiters'
  | 'tracing'
  | 'calls'
> {
  readonly metrics: Pick<Metrics, 'registry'>;
  readonly engine: Engine;
  /** Without it, the level detector answers for it. */
  readonly confirmer?: VoiceConfirmer | null;
  readonly node: NodeLease;
  readonly streamLimits?: Partial<ConnectionLimits>;
  readonly details: Pick<SessionDetails, 'add'>;
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  idleTimeoutMs: LIMITS.idleTimeoutMs,
  sessionWallClockMs: LIMITS.sessionWallClockMs,
  initializationMs: LIMITS.initializationMs,
  pingIntervalMs: LIMITS.pingIntervalMs,
  connectionLostMs: LIMITS.connectionLostMs,
  unreadBytes: 1024 * 1024,
  unreadMs: 10_000,
  reclaimIdleMs: 10_000,
};

/** One timer for all connections. */
const TICK_MS = 250;
/** Upgrades that may wait for the database at one time. */
const CLAIMING_MAX = 256;
/** A drain waits for the database until its deadline, but at least this long. */
const LAST_SETTLEMENTS_MS = 30_000;

interface Candidate {
  readonly request: IncomingMessage;
  readonly wire: Socket;
  readonly head: Buffer;
  readonly requestId: string;
}

interface Claimed {
  readonly owner: Omit<CloseInput, 'status' | 'samples'> & GiveBackInput;
  readonly session: ClaimedSession;
  readonly proof: string;
}

/** Accepts, times and drains all streams of this process. */
export class Gateway {
  readonly streams = new OpenStreams();
  readonly #deps: GatewayDeps;
  readonly #limits: ConnectionLimits;
  readonly #sockets = new WebSocketServer<typeof StreamSocket>(SOCKET_OPTIONS);
  readonly #browserRefusals = new BrowserRefusals();
  readonly #settlements: Settlements;
  readonly #metrics: StreamMetrics;
  readonly #ticking: NodeJS.Timeout;
  readonly #isTrustedProxy: IsTrusted;
  /** Claims that opened no stream and are not given back yet. */
  readonly #notGivenBack = new Set<GiveBackInput>();
  #claiming = 0;
  #drainDeadlineAtMs: number | null = null;

  constructor(deps: GatewayDeps) {
    this.#deps = deps;
    this.#limits = { ...CONNECTION_LIMITS, ...deps.streamLimits };
    this.#isTrustedProxy = trustProxies(deps.config.trustedProxies);
    this.#settlements = new Settlements({
      write: (settlement) => this.#settle(settlement),
      onDelayed: (settlement, err) =>
        deps.log.warn({ ...settlementFields(settlement), err }, 'A settlement is delayed.'),
      onLost: (settlement, err) =>
        deps.log.error({ ...settlementFields(settlement), err }, 'A settlement was abandoned.'),
    });
    this.#metrics = createStreamMetrics(deps.metrics.registry, {
      openStreams: () => this.streams.count,
      waitingStreams: () => this.streams.waitingCount,
      liveAudioMs: () => this.streams.audioMs,
      slots: () => deps.engine.health(),
      isLeaseHeld: () => deps.node.isHeld,
      unsettledCloses: () => this.#settlements.pending,
    });
    this.#sockets.on('headers', (lines, { headers }) => {
      lines.push(`X-Request-Id: ${String(headers[REQUEST_ID_HEADER])}`);
    });
    this.#ticking = setInterval(() => this.#tick(), TICK_MS);
  }

  attach(server: Server): this {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      guardSocket(socket);
      const requestId = newRequestId();
      // The request id is always ours, and is sent with the 101.
      request.headers[REQUEST_ID_HEADER] = requestId;
      void this.#admit({ request, wire: request.socket, head, requestId });
    });
    return this;
  }

  /** Resolves when no stream is left and all are settled. */
  async drain(drainMs: number): Promise<void> {
    this.#drainDeadlineAtMs = this.#now() + drainMs;
    await this.streams.drain(drainMs);
    const leftMs = this.#drainDeadlineAtMs - this.#now();
    await Promise.race([this.#settlements.drained(), sleep(Math.max(LAST_SETTLEMENTS_MS, leftMs))]);
    await this.#settlements.stop();
    clearInterval(this.#ticking);
    this.#sockets.close();
  }

  async #admit(candidate: Candidate): Promise<void> {
    const { request, requestId } = candidate;
    const { tracing } = this.#deps;
    const offered = takeProtocols(request);
    const startedMs = this.#now();
    let trace: StreamTrace | null = null;
    let credential: SessionCredential | null = null;
    try {
      credential = checkUpgrade(this.#deps, { request, offered });
      await checkOrigin(this.#deps, { request, accountId: credential.accountId });
      if (tracing !== null) trace = new StreamTrace(tracing, credential.sessionId);
      await this.#deps.node.regain();
      const beganMs = this.#now();
      const claimed = await this.#claim(credential, requestId);
      trace?.part('ledger.claim', this.#now() - beganMs);
      await this.#open(candidate, { ...claimed, proof: proofIn(offered), trace });
    } catch (error) {
      const address = clientAddress(
        request.socket.remoteAddress ?? 'unknown',
        request.headers['x-forwarded-for'],
        this.#isTrustedProxy,
      );
      const visible = await limitFailedUpgrades(this.#deps, toApiError(error), address);
      if (visible.code === 'internal_error') {
        this.#deps.log.error({ requestId, err: error }, 'An upgrade failed unexpectedly.');
      }
      this.#metrics.refused(visible.code);
      trace?.end({ failed: visible.status >= 500, attributes: { 'error.type': visible.code } });
      this.#deps.log.info({ requestId, code: visible.code }, 'upgrade refused');
      if (credential !== null) {
        const call = { ...credential, requestId, tookMs: this.#now() - startedMs };
        this.#deps.calls.add(refusedUpgrade(call, visible));
      }
      this.#refuse(candidate, { error: visible, offered });
    }
  }

  /** Browsers hide a refused upgrade, so a browser gets the reason as an event after the 101. */
  #refuse(candidate: Candidate, refusal: { error: ApiError; offered: readonly string[] }): void {
    const { request, wire, head, requestId } = candidate;
    const { error, offered } = refusal;
    const closeCode = browserCloseCode(request, { error, offered });
    if (closeCode === null || this.#browserRefusals.isFull) {
      return writeRefusal(wire, error, requestId);
    }
    this.#sockets.handleUpgrade(request, wire, head, (socket) =>
      this.#browserRefusals.refuse(socket, { error, closeCode, requestId }),
    );
  }

  /** Holds a slot before the claim. If there is none, the credential stays valid for another node. */
  async #claim(credential: SessionCredential, requestId: string): Promise<Omit<Claimed, 'proof'>> {
    const { active, capacity } = this.#deps.engine.health();
    const slots = { active: active + this.#claiming, capacity };
    if (slots.active >= capacity || this.#claiming >= CLAIMING_MAX) {
      this.streams.makeRoom(credential.accountId, slots);
      throw new ApiError('capacity_exceeded');
    }
    if (!this.streams.mayOpen(credential.accountId, slots)) {
      throw new ApiError('capacity_exceeded');
    }
    const { id: nodeId, epoch: nodeEpoch } = this.#deps.node.holder();
    const { sessionId, accountId } = credential;
    const owner = { sessionId, accountId, nodeId, nodeEpoch, upgradeId: requestId };
    this.#claiming += 1;
    let answered = Promise.resolve();
    let mayBeClaimed = false;
    try {
      await this.#giveBackEarlier(sessionId);
      mayBeClaimed = true;
      return { owner, session: await claimSession(this.#deps.ledger, owner) };
    } catch (error) {
      // The claim may have succeeded, or succeed later. The client is refused, so its credential must stay good.
      if (mayBeClaimed && !(error instanceof ApiError)) answered = this.#giveBack(owner);
      throw error;
    } finally {
      // Until then it keeps its slot, so that retries during an outage don't pile up settlements.
      void answered.then(() => (this.#claiming -= 1));
    }
  }

  /** A client may open its session again before the claim of its refused upgrade is given back. */
  async #giveBackEarlier(sessionId: string): Promise<void> {
    for (const claim of this.#notGivenBack) {
      if (claim.sessionId === sessionId) await this.#deps.ledger.giveBack(claim);
    }
  }

  /** Resolves when the database has confirmed it. */
  async #giveBack({ sessionId, accountId, upgradeId }: GiveBackInput): Promise<void> {
    const claim = { sessionId, accountId, upgradeId };
    this.#notGivenBack.add(claim);
    await this.#settlements.settle({ ...claim, status: 'given_back' });
    this.#notGivenBack.delete(claim);
  }

  async #open(
    candidate: Candidate,
    { owner, session, proof, trace }: Claimed & { readonly trace: StreamTrace | null },
  ): Promise<void> {
    const { request, wire, head, requestId } = candidate;
    // `ws` calls back synchronously, or not at all if the client disconnected during the database query.
    const opened: StreamSocket[] = [];
    this.#sockets.handleUpgrade(request, wire, head, (socket) => opened.push(socket));
    const [socket] = opened;
    if (socket === undefined) return void this.#giveBack(owner);
    const { engine, clock, confirmer = null } = this.#deps;
    const { model, reservedMs } = session;
    const described = describeClient(request.headers);
    this.#keep(
      new Connection({
        socket,
        wire,
        session: { sessionId: session.id, requestId, model, reservedMs },
        accountId: session.accountId,
        proof,
        engine,
        confirmer,
        clock,
        limits: this.#limits,
        metrics: this.#metrics,
        trace,
        settle: (outcome) => this.#settlements.settle({ ...owner, ...outcome }),
        findLost: (lost) => awaitLostAudio(this.#deps, session.accountId, lost),
        onFault: (fault) =>
          this.#deps.log.error({ sessionId: session.id, requestId, ...fault }, 'A stream failed.'),
        onEnd: (ended, ending, details) => {
          const ids = { accountId: session.accountId, sessionId: session.id, requestId };
          this.#deps.details.add(detailsRow({ ...ids, ...described, ...details }));
          this.#forget(ended, ending);
        },
      }),
    );
  }

  async #settle(settlement: Settlement): Promise<void> {
    if (settlement.status === 'given_back') {
      await this.#deps.ledger.giveBack(settlement);
      return;
    }
    if ((await this.#deps.ledger.close(settlement)) !== 'settled_late') return;
    const { sessionId } = settlement;
    this.#deps.log.warn({ sessionId }, 'The sweeper had failed this session. It was settled late.');
  }

  #keep(connection: Connection): void {
    this.streams.add(connection);
    connection.start();
    if (this.#drainDeadlineAtMs !== null) connection.drain(this.#drainDeadlineAtMs - this.#now());
  }

  #forget(connection: Connection, ending: Ending): void {
    this.streams.delete(connection);
    this.#metrics.ended(ending);
    const { status, reason } = ending;
    const summary = connection.summary();
    connection.trace?.end({
      failed: status === 'failed',
      attributes: { ...tracedSummary(summary), 'svc.status': status, 'svc.reason': reason },
    });
    const traceId = connection.trace?.span.traceId;
    this.#deps.log.info({ ...summary, ...ending, traceId }, 'stream ended');
  }

  #tick(): void {
    this.streams.tick(this.#now());
    this.streams.reclaimIdle(this.#deps.engine.health());
  }

  #now(): number {
    return this.#deps.clock.monotonicMs();
  }
}

/** Fields for the log. */
function settlementFields(settlement: Settlement): Readonly<Record<string, string | number>> {
  const { sessionId, status } = settlement;
  return 'samples' in settlement
    ? { sessionId, status, samples: settlement.samples }
    : { sessionId, status };
}

/** For the log of the account that owns the credential. */
function refusedUpgrade(
  {
    accountId,
    sessionId,
    requestId,
    tookMs,
  }: SessionCredential & Pick<ApiCall, 'requestId' | 'tookMs'>,
  { status, code, detail }: ApiError,
): ApiCall {
  const call = { accountId, sessionId, requestId, tookMs, keyId: null };
  return { ...call, method: 'GET', route: STREAM_PATH, status, code, detail };
}

/** Log fields as span attributes. */
function tracedSummary(
  summary: Readonly<Record<string, string | number>>,
): Record<string, string | number> {
  const names = {
    requestId: 'svc.request_id',
    model: 'svc.model',
    audioMs: 'svc.audio_ms',
  };
  const entries = Object.entries(names).map(([key, name]) => [name, summary[key] ?? '']);
  return Object.fromEntries(entries);
}
