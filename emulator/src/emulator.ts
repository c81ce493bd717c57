import { createScriptedEngine } from '@svc-asr/engine';
import { LIMITS, STREAM_PATH, type ModelId } from '@svc-asr/protocol';
import { generateSecrets, parseConfig, type Config } from '@svc-asr/server/config.ts';
import { createPool } from '@svc-asr/server/db.ts';
import { freePort } from '@svc-asr/server/free-port.ts';
import { createLedger } from '@svc-asr/server/ledger/ledger.ts';
import { startLocalPostgres } from '@svc-asr/server/local-postgres.ts';
import { createLog } from '@svc-asr/server/log.ts';
import { migrate } from '@svc-asr/server/migrate.ts';
import { createRateLimiter } from '@svc-asr/server/rate-limit.ts';
import { systemClock } from '@svc-asr/server/clock.ts';
import { startServer, type RunningServer } from '@svc-asr/server/server.ts';
import { createCustomer } from './customer.ts';
import { Faults, type Fault } from './faults.ts';
import { faultyEngine, faultyLedger, faultyLimiters, faultyScript } from './faulty-parts.ts';
import { Wires } from './wires.ts';

export { FAULTS, parseFault, parseFaultFlag, type Fault, type FaultName } from './faults.ts';

export interface EmulatorOptions {
  /** Default, and 0: any free port. */
  readonly port?: number;
  /** Default: an hour. */
  readonly creditMs?: number;
  /** Sessions at once. Default 1, as the service has it. */
  readonly concurrency?: number;
  /** What is recognised, one for each utterance in turn. Default: greetings. */
  readonly texts?: readonly string[];
  readonly faults?: readonly Fault[];
  /** After how long without audio a stream is closed with 4408. Default 60,000. */
  readonly idleTimeoutMs?: number;
  /** How long a stream may take to be ready. Default 2,000 here, so that slow-start is quickly told. */
  readonly initializationMs?: number;
}

export interface Emulator {
  readonly url: string;
  readonly apiKey: string;
  readonly faults: Faults;
  /** What the next streams say. */
  say(texts: readonly string[]): void;
  /** Ends every stream with 1012 and comes back on the same port, with another idle time if one is given. */
  restart(change?: { idleTimeoutMs?: number }): Promise<void>;
  stop(): Promise<void>;
}

const DEFAULT_CREDIT_MS = 3_600_000;
const INITIALIZATION_MS = 2_000;
const STALLED_AFTER_MS = 2_000;
const GREETINGS: Readonly<Record<ModelId, readonly string[]>> = {
  'svc-asr-kikuyu-v1': ['nĩ wega mũno', 'ũhoro waku mũrata wakwa', 'tũgũcemania rũciinĩ'],
  'svc-asr-dholuo-v1': ['erokamano ahinya', 'idhi nade osiepna', 'wabiro romo kiny gokinyi'],
};
/** A client under test asks as often as it likes; only the fault rate-limit refuses it. */
const NO_RATE_LIMIT = '600000';

/** The real server on a throw-away PostgreSQL, with a recogniser that says what it is told and faults on demand. */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const faults = new Faults();
  for (const fault of options.faults ?? []) faults.arm(fault);
  const postgres = await startLocalPostgres();
  try {
    await migrate({ url: postgres.url });
    const config = await configure(options, postgres.url);
    const apiKey = await createCustomer(config, {
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
      restart: (change) => service.restart(change),
      async stop() {
        await service.stop();
        await postgres.stop();
      },
    };
  } catch (error) {
    await postgres.stop();
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
    RATE_SESSIONS: NO_RATE_LIMIT,
    RATE_USAGE: NO_RATE_LIMIT,
    RATE_MODELS: NO_RATE_LIMIT,
    RATE_FAILED_AUTHENTICATION: NO_RATE_LIMIT,
    RATE_UPGRADES: NO_RATE_LIMIT,
    FAILED_SESSIONS_PER_HOUR: NO_RATE_LIMIT,
  });
}

/** One life of the server after another, on one port and one database. */
class Service {
  readonly #config: Config;
  readonly #options: EmulatorOptions;
  readonly #faults: Faults;
  readonly #wires: Wires;
  #texts: readonly string[] | undefined;
  #idleTimeoutMs: number;
  #server: RunningServer | null = null;
  /** Restarts and the end come one after the other. */
  #turn: Promise<void> = Promise.resolve();

  constructor(config: Config, options: EmulatorOptions, faults: Faults) {
    this.#config = config;
    this.#options = options;
    this.#faults = faults;
    this.#texts = options.texts;
    this.#idleTimeoutMs = options.idleTimeoutMs ?? LIMITS.idleTimeoutMs;
    this.#wires = new Wires(config.port);
  }

  say(texts: readonly string[]): void {
    this.#texts = texts;
  }

  restart(change: { idleTimeoutMs?: number } = {}): Promise<void> {
    return this.#inTurn(async () => {
      this.#idleTimeoutMs = change.idleTimeoutMs ?? this.#idleTimeoutMs;
      await this.#server?.stop({ drainMs: 0 });
      await this.start();
    });
  }

  stop(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#server?.stop({ drainMs: 0 });
      this.#wires.close();
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
    const { rates } = this.#config;
    const db = createPool({ url: this.#config.databaseUrl });
    const engine = createScriptedEngine({
      script: ({ model }) => faultyScript(this.#texts ?? GREETINGS[model], this.#faults),
      stalledAfterMs: STALLED_AFTER_MS,
    });
    this.#server = await startServer(this.#config, {
      db,
      log: createLog({ level: this.#config.logLevel }),
      engine: faultyEngine(engine, this.#faults, (fault) => this.#onStrike(fault)),
      ledger: faultyLedger(createLedger(db), this.#faults, db),
      limiters: faultyLimiters(
        {
          sessions: createRateLimiter(rates.sessions, systemClock),
          usage: createRateLimiter(rates.usage, systemClock),
          models: createRateLimiter(rates.models, systemClock),
          failedAuthentication: createRateLimiter(rates.failedAuthentication, systemClock),
          upgrades: createRateLimiter(rates.upgrades, systemClock),
          consoleForms: createRateLimiter(rates.consoleForms, systemClock),
        },
        this.#faults,
      ),
      streamLimits: {
        idleTimeoutMs: this.#idleTimeoutMs,
        initializationMs: this.#options.initializationMs ?? INITIALIZATION_MS,
      },
    });
  }

  #onStrike(fault: Fault): void {
    if (fault.name === 'connection-lost') this.#wires.cut();
    else void this.restart();
  }
}
