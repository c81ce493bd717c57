import { createHash } from 'node:crypto';
import { networkOf } from '@svc-asr/runtime/network.ts';
import { SvcClient, type ModelId } from '@svc-asr/sdk';
import { openStream, type EndpointingOptions, type SvcStream } from '@svc-asr/sdk/stream';
import type { Config } from './config.ts';
import type { CompatibleMetrics } from './metrics.ts';
import { Budget } from './budget.ts';
import { endStream, watchReady } from './end-stream.ts';
import { busy, Refusal } from './refusal.ts';
import { SessionQueue } from './session-queue.ts';
import { VerifiedKeys } from './verified-keys.ts';

export interface CallerStreamOptions {
  readonly model: ModelId;
  /** Ends the stream at once. */
  readonly signal: AbortSignal;
  readonly endpointing?: boolean | EndpointingOptions;
  /** Names and words to listen for. Empty: none. */
  readonly keyterms?: readonly string[];
  /** Whether finals have numbers as digits. */
  readonly numbers?: boolean;
}

/** The sender of one request or socket, known by its API key. Holds the key for as long as the request lasts. */
export interface Caller {
  /** The same for all keys of one account. */
  readonly account: string;
  /** For requests other than streams. */
  readonly client: SvcClient;
  /** Throws unless a session could be reserved. Work on a file begins long before its session. */
  requireCredit(): void;
  /**
   * Opens a stream whose first session is already reserved, so refusals come before anything is answered. While the
   * account is at its limit it waits its turn for up to 8 s. Later sessions of the stream are the SDK's.
   */
  openStream(options: CallerStreamOptions): Promise<SvcStream>;
}

/** One connection. It counts against its network until the service has confirmed its key, then against its account. */
export interface Entry {
  /** Throws if the service doesn't know the key. Anyone can make up a key with the right checksum. */
  identify(key: string, signal: AbortSignal): Promise<Caller>;
  /** The request is over. */
  leave(): void;
}

/** Everyone who is connected now: limits by account and by address, and the queues for sessions. */
export class Callers {
  readonly #config: Config;
  readonly #metrics: CompatibleMetrics;
  readonly #queues = new Map<string, SessionQueue>();
  readonly #addresses: Budget;
  readonly #unproven: Budget;
  readonly #accounts: Budget;
  readonly #verified = new VerifiedKeys();
  #streams = 0;

  constructor(config: Config, metrics: CompatibleMetrics) {
    this.#config = config;
    this.#metrics = metrics;
    const { limits } = config;
    const total = limits.connections;
    this.#addresses = new Budget({ total, perAccount: limits.connectionsPerAddress });
    this.#accounts = new Budget({ total, perAccount: limits.connectionsPerAccount });
    this.#unproven = new Budget({
      total: limits.unprovenConnections,
      perAccount: limits.unprovenPerNetwork,
    });
    metrics.gauge('svc_compatible_connections', () => this.#addresses.sum);
    metrics.gauge('svc_compatible_streams', () => this.#streams);
  }

  get isEmpty(): boolean {
    return this.#addresses.sum === 0;
  }

  /** Throws if there are too many connections. */
  enter(address: string): Entry {
    const network = networkOf(address);
    const block = blockOf(network);
    if (!this.#addresses.allows(network, 1)) throw TOO_MANY_HERE;
    if (!this.#addresses.take(network, 1)) throw TOO_MANY;
    if (!this.#unproven.take(block, 1)) {
      this.#addresses.give(network, 1);
      throw TOO_MANY_UNPROVEN;
    }
    let isHere = true;
    let leaveShare = (): void => this.#unproven.give(block, 1);
    return {
      identify: async (key, signal) => {
        const caller = await this.#identify(key, signal);
        const { account } = caller;
        if (!isHere || !this.#accounts.take(account, 1)) throw TOO_MANY_WITH_ACCOUNT;
        leaveShare();
        leaveShare = () => {
          this.#accounts.give(account, 1);
          const isLast = this.#accounts.heldBy(account) === 0;
          if (isLast && this.#queueOf(account).isIdle) this.#queues.delete(account);
        };
        return caller;
      },
      leave: () => {
        if (!isHere) return;
        isHere = false;
        this.#addresses.give(network, 1);
        leaveShare();
      },
    };
  }

  async #identify(key: string, signal: AbortSignal): Promise<Caller> {
    const { limits, baseUrl } = this.#config;
    let partition: string | null = null;
    const client = new SvcClient({
      baseUrl,
      apiKey: key,
      // The queue waits, and the stream retries.
      retriesMax: 0,
      timeoutMs: limits.sessionWaitMs,
      // The operator chose the address of the service.
      allowInsecure: true,
      onRateLimit: (limit) => (partition = limit.partition ?? partition),
    });
    const id = createHash('sha256').update(key).digest('base64');
    const question = { client, partition: () => partition, signal };
    const { account, hasCredit } = await this.#verified.verify(id, question);
    return {
      account,
      client,
      requireCredit: () => {
        if (!hasCredit) throw NO_CREDIT;
      },
      openStream: (options) => this.#openStream({ client, queue: this.#queueOf(account), options }),
    };
  }

  #queueOf(account: string): SessionQueue {
    const known = this.#queues.get(account);
    if (known !== undefined) return known;
    const queue = new SessionQueue({
      waitMsMax: this.#config.limits.sessionWaitMs,
      onWaiting: () => this.#metrics.count('svc_compatible_waits_total'),
    });
    this.#queues.set(account, queue);
    return queue;
  }

  async #openStream(input: {
    readonly client: SvcClient;
    readonly queue: SessionQueue;
    readonly options: CallerStreamOptions;
  }): Promise<SvcStream> {
    const { client, queue } = input;
    const { model, signal, endpointing = false, keyterms = [], numbers = false } = input.options;
    const session = await queue.reserveFirst({ client, model, signal });
    const stream = openStream({
      session,
      getSession: (request) => queue.reserveNext({ client, model, request }),
      endpointing,
      numbers,
      ...(keyterms.length === 0 ? {} : { keyterms }),
    });
    watchReady(stream);
    this.#streams += 1;
    queue.onStreamOpened();
    const onClosed = (): void => {
      this.#streams -= 1;
      queue.onStreamClosed();
    };
    void stream.closed.then(onClosed);
    const end = (): void => void endStream(stream);
    signal.addEventListener('abort', end, { once: true });
    void stream.closed.then(() => signal.removeEventListener('abort', end));
    if (signal.aborted) end();
    return stream;
  }
}

/** One customer often has a whole /24, as a /64 of IPv6. */
function blockOf(network: string): string {
  return network.includes(':') ? network : network.slice(0, network.lastIndexOf('.'));
}

const TOO_MANY = busy('too_many_connections', 'This server has too many connections. Try again.');
const TOO_MANY_HERE = busy(
  'too_many_connections',
  'Too many connections from this address. Close some, then try again.',
  429,
);
const TOO_MANY_UNPROVEN = busy(
  'too_many_connections',
  'Too many connections from this network wait for their API key to be checked. Try again.',
  429,
);
const TOO_MANY_WITH_ACCOUNT = busy(
  'too_many_connections',
  'Too many connections of this account. Close some, then try again.',
  429,
);
const NO_CREDIT = new Refusal({
  status: 402,
  code: 'insufficient_credits',
  message: 'Less than one second of audio credit is left. Add credit, then retry.',
});
