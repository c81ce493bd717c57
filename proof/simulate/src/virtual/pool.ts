import type { Pool } from '@svc-asr/server/platform/database/db.ts';
import type { QueryConfig } from 'pg';
import {
  asQueryable,
  databaseError,
  type Answer,
  type Call,
  type LedgerDatabase,
} from '../ledger/database.ts';
import type { VirtualNetwork } from './network.ts';
import type { VirtualProcess } from './process.ts';
import type { Path } from './socket.ts';
import { scheduler } from './scheduler.ts';
import type { Queryable } from '@svc-asr/server/platform/database/db.ts';

/** Limits of our pools: see `openDatabase` in server.ts. */
const CONNECT_MS_MAX = 1_000;
const STATEMENT_MS_MAX = 1_000;
const ANSWER_MS_MAX = 2_000;

/** The database server behind all pools, with its faults. */
export interface DatabaseServer {
  readonly database: Pick<LedgerDatabase, 'run'>;
  /** Rises when all connections break. */
  generation: number;
  /** While it is away, new connections are refused, or get no answer if it is unreachable. */
  state: 'up' | 'refusing' | 'unreachable';
  /** Queues a statement behind the others and returns how long it takes. Infinity: it is cancelled. Without it nothing queues. */
  queueMs?(call: Call): number;
  /** How long a statement takes. */
  statementMs(): number;
  /** What becomes of a statement. */
  fate(call: Call): 'answered' | 'not_run' | 'answer_lost';
}

interface Connection {
  readonly generation: number;
  readonly path: Path;
}

interface PoolInput {
  readonly owner: VirtualProcess;
  readonly name: string;
  readonly server: DatabaseServer;
  readonly network: VirtualNetwork;
  readonly maxConnections: number;
  readonly verify?: (db: Queryable) => Promise<void>;
  readonly onSend?: (call: Call) => void;
  readonly onQuery?: (call: Call, outcome: string) => void;
}

/** A pool of virtual connections, which behaves like the pool of `createPool`. */
export class VirtualPool {
  readonly #input: PoolInput;
  readonly #idle: Connection[] = [];
  readonly #waiting = new Set<() => void>();
  #open = 0;
  #connections = 0;
  #isEnded = false;

  constructor(input: PoolInput) {
    this.#input = input;
  }

  /** As the type that the service takes. It calls only `query` and `end`. */
  get asPool(): Pool {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the service calls only query and end
    return this as unknown as Pool;
  }

  /** Statements that hold or wait for a connection. */
  get busy(): number {
    return this.#open - this.#idle.length + this.#waiting.size;
  }

  async query(config: string | QueryConfig<unknown[]>, values?: unknown[]): Promise<Answer> {
    const call: Call =
      typeof config === 'string'
        ? { text: config, values: values ?? [] }
        : { text: config.text, values: config.values ?? [] };
    if (this.#isEnded) throw new Error('Cannot use a pool after calling end on the pool');
    this.#input.onSend?.(call);
    const connection = await this.#take();
    try {
      const answer = await this.#run(connection, call);
      this.#give(connection);
      return answer;
    } catch (error) {
      const isBroken = error instanceof Error && 'isBroken' in error;
      this.#give(isBroken ? null : connection);
      throw error;
    }
  }

  async end(): Promise<void> {
    this.#isEnded = true;
  }

  async #take(): Promise<Connection> {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (idle.generation === this.#input.server.generation) return idle;
      this.#open -= 1;
    }
    if (this.#open >= this.#input.maxConnections) {
      await this.#turn();
      return this.#take();
    }
    this.#open += 1;
    try {
      const connection = await this.#connect();
      const { verify, onSend } = this.#input;
      const ask = (call: Call): Promise<Answer> => {
        onSend?.(call);
        return this.#run(connection, call);
      };
      if (verify !== undefined) await verify(asQueryable(ask));
      return connection;
    } catch (error) {
      this.#give(null);
      throw error;
    }
  }

  /** Waits for a connection as long as for a new one. */
  #turn(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const timer = scheduler.timer(() => {
      this.#waiting.delete(turn);
      reject(new Error('timeout exceeded when trying to connect'));
    }, CONNECT_MS_MAX);
    const turn = (): void => {
      timer.isLive = false;
      resolve();
    };
    this.#waiting.add(turn);
    return promise;
  }

  #give(connection: Connection | null): void {
    if (connection === null) this.#open -= 1;
    else this.#idle.push(connection);
    const [turn] = this.#waiting;
    if (turn === undefined) return;
    this.#waiting.delete(turn);
    turn();
  }

  #connect(): Promise<Connection> {
    const { owner, server, network, name } = this.#input;
    const path = network.path(`${owner.name} ${name} ${this.#connections++}`);
    const { promise, resolve, reject } = Promise.withResolvers<Connection>();
    const timer = scheduler.timer(
      () => reject(new Error('timeout exceeded when trying to connect')),
      CONNECT_MS_MAX,
    );
    const answer = (run: () => void): void => {
      scheduler.deliver(owner, path.delayMs() * 2, () => {
        timer.isLive = false;
        run();
      });
    };
    if (server.state === 'refusing') {
      answer(() => reject(databaseError('ECONNREFUSED', 'connect ECONNREFUSED')));
    } else if (server.state === 'up') {
      answer(() => resolve({ generation: server.generation, path }));
    }
    return promise;
  }

  #run(connection: Connection, call: Call): Promise<Answer> {
    const { owner, server, onQuery } = this.#input;
    const { path, generation } = connection;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    let isGivenUp = false;
    const timer = scheduler.timer(() => {
      isGivenUp = true;
      reject(broken(new Error('Query read timeout')));
    }, ANSWER_MS_MAX);
    const settle = (afterMs: number, outcome: string, run: () => void): void => {
      scheduler.deliver(owner, afterMs, () => {
        if (isGivenUp) return;
        timer.isLive = false;
        onQuery?.(call, outcome);
        run();
      });
    };
    const lose = (outcome: string): void =>
      settle(path.delayMs(), outcome, () =>
        reject(broken(new Error('Connection terminated unexpectedly'))),
      );
    const fate = server.fate(call);
    const execute = (): void => {
      void scheduler.hold(server.database.run(call)).then(
        (answer) => {
          if (fate === 'answer_lost') return lose('answer lost');
          return settle(path.delayMs(), 'answered', () => resolve(answer));
        },
        (error: Error) => settle(path.delayMs(), `failed: ${error.message}`, () => reject(error)),
      );
    };
    const statementMs = server.statementMs();
    scheduler.later(path.delayMs() + Math.min(statementMs, STATEMENT_MS_MAX), () => {
      if (server.state === 'unreachable') return undefined;
      if (server.generation !== generation || fate === 'not_run') return lose('not run');
      const queuedMs = server.queueMs?.(call) ?? 0;
      if (queuedMs === Infinity) {
        const cancelled = databaseError('57014', 'canceling statement due to statement timeout');
        return settle(STATEMENT_MS_MAX + path.delayMs(), 'cancelled', () => reject(cancelled));
      }
      if (queuedMs > 0) {
        scheduler.later(queuedMs, () => {
          if (server.generation !== generation) lose('not run');
          else execute();
        });
        return undefined;
      }
      if (statementMs <= STATEMENT_MS_MAX) return execute();
      const cancelled = databaseError('57014', 'canceling statement due to statement timeout');
      return settle(path.delayMs(), 'cancelled', () => reject(cancelled));
    });
    return promise;
  }
}

function broken(error: Error): Error {
  return Object.assign(error, { isBroken: true });
}
