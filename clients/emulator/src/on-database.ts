import { GREETINGS, type StreamScript } from '@svc-asr/engine/core.ts';
import { LIMITS, STREAM_PATH, type ModelId } from '@svc-asr/protocol';
import { generateSecrets, parseConfig, type Config } from '@svc-asr/server/config.ts';
import { createPool } from '@svc-asr/server/platform/database/db.ts';
import { freePort } from '@svc-asr/local/free-port.ts';
import { createLedger } from '@svc-asr/server/ledger/ledger.ts';
import { createLog } from '@svc-asr/server/platform/observe/log.ts';
import { createRateLimiter } from '@svc-asr/server/platform/network/rate-limit.ts';
import { systemClock } from '@svc-asr/server/platform/clock.ts';
import { startServer, type RunningServer } from '@svc-asr/server/server.ts';
import { Connections } from './connections.ts';
import { createEmulatorAccount } from './create-account.ts';
import type { Emulator, EmulatorOptions, ScriptedTurn } from './emulator-api.ts';
import { faultyLedger, faultyLimiters } from './fault-injection.ts';
import { Faults, type Fault } from './faults.ts';
import { OpenRequests } from './open-requests.ts';
import { createFaultyEngine } from './faulty-engine.ts';

const DEFAULT_CREDIT_MS = 3_600_000;
const INITIALIZATION_MS = 2_000;
/** Clients under test may send any number of requests. Only the fault rate-limit refuses them. */
const NO_RATE_LIMIT = '600000';

/** A migrated database. The emulator drops it when it stops. */
export interface EmulatorDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

/** Starts the emulator on an existing database, which tests create in a tenth of a second. */
export async function startEmulatorOn(
  database: EmulatorDatabase,
  options: EmulatorOptions = {},
): Promise<Emulator> {
  const faults = new Faults();
  for (const fault of options.faults ?? []) faults.arm(fault);
  try {
    const config = await configure(options, database.url);
    const apiKey = await createEmulatorAccount(config, {
      creditMs: options.creditMs ?? DEFAULT_CREDIT_MS,
      concurrency: options.concurrency ?? 1,
    });
    const service = new Service(config, options, faults);
    await service.start();
    return {
      url: `http://${config.host}:${config.port}`,
      apiKey,
      faults,
      say: (texts) => service.say(texts),
      play: (turns) => service.play(turns),
      restart: (change) => service.restart(change),
      async stop() {
        await service.stop();
        await database.drop();
      },
    };
  } catch (error) {
    await database.drop();
    throw error;
  }
}

async function configure(options: EmulatorOptions, databaseUrl: string): Promise<Config> {
  const port = String(options.port || (await freePort()));
  return parseConfig({
    ...generateSecrets(),
    PORT: port,
    DATABASE_URL: databaseUrl,
    PUBLIC_STREAM_URL: `ws://127.0.0.1:${port}${STREAM_PATH}`,
    ALLOW_INSECURE_WS: '1',
    NODE_ID: 'emulator',
    LOG_LEVEL: 'silent',
    ...sessionRate(options.sessionsPerMinute),
    RATE_USAGE: NO_RATE_LIMIT,
    RATE_MODELS: NO_RATE_LIMIT,
    RATE_FAILED_AUTHENTICATION: NO_RATE_LIMIT,
    RATE_FAILED_UPGRADES: NO_RATE_LIMIT,
  });
}

function sessionRate(perMinute: number | undefined): Record<string, string> {
  if (perMinute === undefined) return { RATE_SESSIONS: NO_RATE_LIMIT };
  return { RATE_SESSIONS: `${perMinute}/${Math.ceil(perMinute / 3)}` };
}

/** Runs the server and restarts it on the same port and database. */
class Service {
  readonly #config: Config;
  readonly #options: EmulatorOptions;
  readonly #faults: Faults;
  readonly #connections: Connections;
  readonly #requests: OpenRequests;
  #texts: readonly string[] | undefined;
  #turns: readonly ScriptedTurn[] | undefined;
  #idleTimeoutMs: number;
  #server: RunningServer | null = null;
  #isStopping = false;
  /** Restarts and the final stop run one after another. */
  #turn: Promise<void> = Promise.resolve();

  constructor(config: Config, options: EmulatorOptions, faults: Faults) {
    this.#config = config;
    this.#options = options;
    this.#faults = faults;
    this.#texts = options.texts;
    this.#turns = options.turns;
    this.#idleTimeoutMs = options.idleTimeoutMs ?? LIMITS.idleTimeoutMs;
    this.#connections = new Connections(config.port);
    this.#requests = new OpenRequests(config.port);
  }

  say(texts: readonly string[]): void {
    this.#texts = texts;
    this.#turns = undefined;
  }

  play(turns: readonly ScriptedTurn[]): void {
    this.#turns = turns;
  }

  #script(model: ModelId): Pick<StreamScript, 'texts' | 'turns' | 'shortestMs'> {
    const script = {
      texts: this.#texts ?? GREETINGS[model],
      shortestMs: this.#options.shortestMs ?? 0,
    };
    return this.#turns === undefined ? script : { ...script, turns: this.#turns };
  }

  restart(change: { idleTimeoutMs?: number } = {}): Promise<void> {
    return this.#inTurn(async () => {
      this.#idleTimeoutMs = change.idleTimeoutMs ?? this.#idleTimeoutMs;
      this.#isStopping = true;
      this.#requests.release();
      await this.#server?.stop({ drainMs: 0 });
      this.#isStopping = false;
      await this.start();
    });
  }

  stop(): Promise<void> {
    return this.#inTurn(async () => {
      this.#requests.release();
      await this.#server?.stop({ drainMs: 0 });
      this.#requests.close();
      this.#connections.close();
    });
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    const before = this.#turn;
    const mine = (async () => {
      await before;
      await work();
    })();
    this.#turn = mine;
    await mine;
  }

  async start(): Promise<void> {
    const { rates } = this.#config.limits;
    const db = createPool({ url: this.#config.database.url });
    this.#server = await startServer(this.#config, {
      db,
      log: createLog({ level: this.#config.logLevel }),
      engine: createFaultyEngine({
        keyterms: this.#options.keyterms ?? true,
        faults: this.#faults,
        script: (model) => this.#script(model),
        onStrike: (fault) => this.#onStrike(fault),
        isStopping: () => this.#isStopping,
      }),
      ledger: faultyLedger(createLedger(db), this.#faults, db),
      limiters: faultyLimiters(
        {
          sessions: createRateLimiter(rates.sessions, systemClock),
          usage: createRateLimiter(rates.usage, systemClock),
          models: createRateLimiter(rates.models, systemClock),
          failedAuthentication: createRateLimiter(rates.failedAuthentication, systemClock),
          failedUpgrades: createRateLimiter(rates.failedUpgrades, systemClock),
          consoleForms: createRateLimiter(rates.consoleForms, systemClock),
        },
        { faults: this.#faults, requests: this.#requests },
      ),
      streamLimits: {
        idleTimeoutMs: this.#idleTimeoutMs,
        initializationMs: this.#options.initializationMs ?? INITIALIZATION_MS,
      },
    });
  }

  #onStrike(fault: Fault): void {
    if (fault.name === 'connection-lost') this.#connections.reset();
    else void this.restart();
  }
}
