import { GREETINGS, type StreamScript } from '@svc-asr/engine/core.ts';
import { LIMITS, STREAM_PATH, type ModelId } from '@svc-asr/protocol';
import { generateSecrets, parseConfig, type Config } from '@svc-asr/server/config.ts';
import { createPool } from '@svc-asr/server/platform/db.ts';
import { freePort } from '@svc-asr/local/free-port.ts';
import { createLedger } from '@svc-asr/server/ledger/ledger.ts';
import { startLocalPostgres } from '@svc-asr/local/local-postgres.ts';
import { createLog } from '@svc-asr/server/platform/log.ts';
import { migrate } from '@svc-asr/server/platform/migrate.ts';
import { createRateLimiter } from '@svc-asr/server/platform/rate-limit.ts';
import { systemClock } from '@svc-asr/server/platform/clock.ts';
import { startServer, type RunningServer } from '@svc-asr/server/server.ts';
import { checkNode } from './check-node.ts';
import { Connections } from './connections.ts';
import { createEmulatorAccount } from './create-account.ts';
import { faultyLedger, faultyLimiters } from './fault-injection.ts';
import { Faults, type Fault } from './faults.ts';
import { createFaultyEngine } from './faulty-engine.ts';

export {
  FAULTS,
  formatFault,
  parseFault,
  parseFaultFlag,
  type Fault,
  type FaultName,
  type Faults,
} from './faults.ts';

/** One turn of a scripted conversation. The audio is only counted, so it can be silence. */
export interface ScriptedTurn {
  /** The recognised text. Empty for a noise that causes speech events without words. */
  readonly text: string;
  /** Silence before the turn. Default 500. */
  readonly silenceMs?: number;
  /** Length of the speech. Default 560 for each word. */
  readonly speechMs?: number;
}

export interface EmulatorOptions {
  /** Default: 0, any free port. */
  readonly port?: number;
  /** Default: an hour. */
  readonly creditMs?: number;
  /** Sessions at once. Default 1, as in the service. */
  readonly concurrency?: number;
  /** Transcripts, one per utterance in turn. Default: greetings. */
  readonly texts?: readonly string[];
  /** Speech and silence of each session, instead of `texts`. The audio can be silence. */
  readonly turns?: readonly ScriptedTurn[];
  /** A shorter utterance is silence, and its final is empty. Default 0. Endpointing leaves such utterances. */
  readonly shortestMs?: number;
  readonly faults?: readonly Fault[];
  /** Whether the models take keyterms. They don't change a script. Default true. */
  readonly keyterms?: boolean;
  /** How long a stream may be idle before it is closed with 4408. Default 60,000. */
  readonly idleTimeoutMs?: number;
  /** How long a stream may take to get ready. Default 2,000, so that tests of slow-start are quick. */
  readonly initializationMs?: number;
  /** Limit for POST /v1/asr/sessions, with a burst of a third of it. Default: no limit. The service has 30. */
  readonly sessionsPerMinute?: number;
}

export interface Emulator {
  readonly url: string;
  readonly apiKey: string;
  readonly faults: Faults;
  /** Sets the transcripts of the next streams. */
  say(texts: readonly string[]): void;
  /** Sets the speech and silence of the next streams, instead of `say`. */
  play(turns: readonly ScriptedTurn[]): void;
  /** Ends every stream with 1012 and starts again on the same port, with another idle timeout if given. */
  restart(change?: { idleTimeoutMs?: number }): Promise<void>;
  stop(): Promise<void>;
}

const DEFAULT_CREDIT_MS = 3_600_000;
const INITIALIZATION_MS = 2_000;
/** Clients under test may send any number of requests. Only the fault rate-limit refuses them. */
const NO_RATE_LIMIT = '600000';

/** Starts the real server on a temporary PostgreSQL, with a scripted recogniser and faults on demand. */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  checkNode();
  const faults = new Faults();
  for (const fault of options.faults ?? []) faults.arm(fault);
  const postgres = await startLocalPostgres();
  try {
    await migrate({ url: postgres.url });
    const config = await configure(options, postgres.url);
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
      await this.#server?.stop({ drainMs: 0 });
      this.#isStopping = false;
      await this.start();
    });
  }

  stop(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#server?.stop({ drainMs: 0 });
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
        this.#faults,
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
