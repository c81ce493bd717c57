import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Engine } from '@svc-asr/engine';
import { LIMITS } from '@svc-asr/protocol';
import { WebSocketServer } from 'ws';
import type { SessionCredential } from '../credentials.ts';
import { isDatabaseAway } from '../db.ts';
import type { Deps } from '../deps.ts';
import { ApiError } from '../errors.ts';
import { newRequestId } from '../ids.ts';
import type { CloseInput } from '../ledger/ledger.ts';
import type { NodeLife } from '../node-life.ts';
import { Connection, pass, SETTLE_BEFORE_CLOSE_MS, type ConnectionLimits } from './connection.ts';
import { refuseUpgrade } from './refusal.ts';
import { Settlements } from './settlements.ts';
import { createStreamMetrics, type StreamMetrics } from './stream-metrics.ts';
import { SOCKET_OPTIONS, type StreamSocket } from './stream-socket.ts';
import type { Ending } from './stream-state.ts';
import {
  addressOf,
  checkUpgrade,
  claimSession,
  isOriginAllowed,
  takeProtocols,
  type ClaimedSession,
} from './upgrade.ts';

export interface GatewayDeps extends Pick<
  Deps,
  'config' | 'log' | 'clock' | 'ledger' | 'credentials' | 'metrics' | 'lifecycle' | 'limiters'
> {
  readonly engine: Engine;
  readonly node: NodeLife;
  readonly streamLimits?: Partial<ConnectionLimits>;
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  idleTimeoutMs: LIMITS.idleTimeoutMs,
  sessionWallClockMs: LIMITS.sessionWallClockMs,
  initializationMs: LIMITS.initializationMs,
  pingIntervalMs: LIMITS.pingIntervalMs,
  connectionLostMs: LIMITS.connectionLostMs,
  unreadBytes: 1024 * 1024,
  unreadMs: 10_000,
};

const REQUEST_ID_HEADER = 'x-request-id';
/** One timer for all connections. */
const TICK_MS = 250;
/** Upgrades that may wait for the database at one time. */
const CLAIMING_MAX = 256;
/** After the deadline of a drain every stream gets its last final; none may take longer than this. */
const LAST_FINALS_MS = 10_000;
const LAST_SETTLEMENTS_MS = 30_000;

interface Candidate {
  readonly request: IncomingMessage;
  readonly wire: Socket;
  readonly head: Buffer;
  readonly requestId: string;
}

interface Claimed {
  readonly owner: Omit<CloseInput, 'status' | 'samples'>;
  readonly session: ClaimedSession;
}

/** All streams of this process: lets them in, keeps time for them, and lets them finish. */
export class Gateway {
  readonly #deps: GatewayDeps;
  readonly #limits: ConnectionLimits;
  readonly #sockets = new WebSocketServer<typeof StreamSocket>(SOCKET_OPTIONS);
  readonly #connections = new Set<Connection>();
  readonly #settlements: Settlements;
  readonly #metrics: StreamMetrics;
  readonly #ticking: NodeJS.Timeout;
  #claiming = 0;
  #drainDeadlineAtMs: number | null = null;
  #onEmpty: (() => void) | null = null;

  constructor(deps: GatewayDeps) {
    this.#deps = deps;
    this.#limits = { ...CONNECTION_LIMITS, ...deps.streamLimits };
    this.#settlements = new Settlements({
      write: async (settlement) => void (await deps.ledger.close(settlement)),
      onLost: ({ sessionId }) => deps.log.error({ sessionId }, 'A settlement was given up.'),
    });
    this.#metrics = createStreamMetrics(deps.metrics.registry, {
      openStreams: () => this.#connections.size,
      unsettledCloses: () => this.#settlements.waiting,
    });
    this.#sockets.on('headers', (lines, { headers }) => {
      lines.push(`X-Request-Id: ${String(headers[REQUEST_ID_HEADER])}`);
    });
    this.#ticking = setInterval(() => this.#tick(), TICK_MS);
  }

  attach(server: Server): this {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      socket.on('error', () => socket.destroy());
      const requestId = newRequestId();
      // An inbound one counts for nothing; ours goes out with the 101.
      request.headers[REQUEST_ID_HEADER] = requestId;
      void this.#admit({ request, wire: request.socket, head, requestId });
    });
    return this;
  }

  /** The accounts that stream here now. */
  accounts(): Set<string> {
    return new Set([...this.#connections].map((connection) => connection.accountId));
  }

  suspend(accountIds: ReadonlySet<string>): void {
    for (const connection of this.#connections) {
      if (accountIds.has(connection.accountId)) connection.end('account_inactive');
    }
  }

  /** Tells every stream, waits for them to finish, then ends what is left; nothing is left when it resolves. */
  async drain(drainMs: number): Promise<void> {
    this.#drainDeadlineAtMs = this.#now() + drainMs;
    for (const connection of this.#connections) connection.drain(drainMs);
    await this.#empty(drainMs);
    for (const connection of this.#connections) connection.drainDeadline();
    await this.#empty(LAST_FINALS_MS);
    for (const connection of this.#connections) connection.end('service_restart');
    await this.#empty(LAST_FINALS_MS);
    await Promise.race([this.#settlements.drained(), pass(LAST_SETTLEMENTS_MS)]);
    await this.#settlements.stop();
    clearInterval(this.#ticking);
    this.#sockets.close();
  }

  async #admit(candidate: Candidate): Promise<void> {
    const { request, wire, requestId } = candidate;
    const offered = takeProtocols(request);
    try {
      const address = addressOf(request, this.#deps.config.trustedProxies);
      const credential = checkUpgrade(this.#deps, { request, offered, address });
      const claimed = await this.#claim(credential, requestId);
      await this.#open(candidate, claimed);
    } catch (error) {
      const visible = error instanceof ApiError ? error : toApiError(error);
      if (visible.code === 'internal_error') {
        this.#deps.log.error({ requestId, err: error }, 'An upgrade failed unexpectedly.');
      }
      this.#metrics.refused(visible.code);
      this.#deps.log.info({ requestId, code: visible.code }, 'upgrade refused');
      refuseUpgrade(wire, visible, requestId);
    }
  }

  /** A slot is held before the claim: a node without one refuses, and the credential stays good for another. */
  async #claim(credential: SessionCredential, requestId: string): Promise<Claimed> {
    const { active, capacity } = this.#deps.engine.health();
    if (active + this.#claiming >= capacity || this.#claiming >= CLAIMING_MAX) {
      throw new ApiError('capacity_exceeded');
    }
    const { id: nodeId, epoch: nodeEpoch } = this.#deps.node.lease();
    const { sessionId, accountId } = credential;
    const owner = { sessionId, accountId, nodeId, nodeEpoch };
    this.#claiming += 1;
    try {
      const session = await claimSession(this.#deps.ledger, { ...owner, attemptId: requestId });
      return { owner, session };
    } catch (error) {
      // Whether it went through is unknown, and a session that nobody serves would block its account.
      if (!(error instanceof ApiError)) {
        void this.#settlements.settle({ ...owner, status: 'failed', samples: 0 });
      }
      throw error;
    } finally {
      this.#claiming -= 1;
    }
  }

  async #open(candidate: Candidate, { owner, session }: Claimed): Promise<void> {
    const { request, wire, head, requestId } = candidate;
    if (!isOriginAllowed(request, session, this.#deps.config.publicUrl)) {
      const settled = this.#settlements.settle({ ...owner, status: 'completed', samples: 0 });
      await Promise.race([settled, pass(SETTLE_BEFORE_CLOSE_MS)]);
      throw new ApiError('origin_not_allowed');
    }
    // `ws` calls back at once, or not at all when the client has gone while we asked the database.
    const opened: StreamSocket[] = [];
    this.#sockets.handleUpgrade(request, wire, head, (socket) => opened.push(socket));
    const [socket] = opened;
    if (socket === undefined) {
      void this.#settlements.settle({ ...owner, status: 'completed', samples: 0 });
      return;
    }
    const { engine, clock } = this.#deps;
    const { model, reservedMs } = session;
    this.#keep(
      new Connection({
        socket,
        wire,
        session: { sessionId: session.id, requestId, model, reservedMs },
        accountId: session.accountId,
        engine,
        clock,
        limits: this.#limits,
        metrics: this.#metrics,
        settle: (outcome) => this.#settlements.settle({ ...owner, ...outcome }),
        onEnd: (ended, ending) => this.#forget(ended, ending),
      }),
    );
  }

  #keep(connection: Connection): void {
    this.#connections.add(connection);
    connection.start();
    if (this.#drainDeadlineAtMs !== null) connection.drain(this.#drainDeadlineAtMs - this.#now());
  }

  #forget(connection: Connection, ending: Ending): void {
    this.#connections.delete(connection);
    this.#metrics.ended(ending);
    this.#deps.log.info({ ...connection.summary(), ...ending }, 'stream ended');
    if (this.#connections.size === 0) this.#onEmpty?.();
  }

  #tick(): void {
    const nowMs = this.#now();
    for (const connection of this.#connections) connection.tick(nowMs);
  }

  async #empty(withinMs: number): Promise<void> {
    if (this.#connections.size === 0) return;
    const emptied = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
    await Promise.race([emptied, pass(withinMs)]);
  }

  #now(): number {
    return this.#deps.clock.monotonicMs();
  }
}

function toApiError(error: unknown): ApiError {
  return new ApiError(isDatabaseAway(error) ? 'service_unavailable' : 'internal_error', {
    cause: error,
  });
}
