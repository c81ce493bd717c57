import { createHash } from 'node:crypto';
import { SvcClient, type ModelId } from '@svc-asr/sdk';
import { openStream, type EndpointingOptions, type SvcStream } from '@svc-asr/sdk/stream';
import type { Config } from './config.ts';
import type { CompatibleMetrics } from './metrics.ts';
import { busy } from './refusal.ts';
import { SessionQueue } from './session-queue.ts';
import { VerifiedKeys } from './verified-keys.ts';

export interface CallerStreamOptions {
  readonly model: ModelId;
  /** Ends the stream at once. */
  readonly signal: AbortSignal;
  readonly endpointing?: boolean | EndpointingOptions;
  /** Names and words to listen for. Empty: none. */
  readonly keyterms?: readonly string[];
}

/** The sender of one request or socket, known by its API key. Holds the key for as long as the request lasts. */
export interface Caller {
  /** The same for all requests with one key. */
  readonly id: string;
  /** For requests other than streams. */
  readonly client: SvcClient;
  /** Resolves if the service knows the key. Anyone can make up a key with the right checksum. */
  verify(signal: AbortSignal): Promise<void>;
  /**
   * Opens a stream whose first session is already reserved, so refusals come before anything is answered. While the
   * account is at its limit it waits its turn for up to 8 s. Later sessions of the stream are the SDK's.
   */
  openStream(options: CallerStreamOptions): Promise<SvcStream>;
  /** The request is over. */
  leave(): void;
}

/** Everyone who is connected now: limits by key and by address, and the queues for sessions. */
export class Callers {
  readonly #config: Config;
  readonly #metrics: CompatibleMetrics;
  readonly #queues = new Map<string, SessionQueue>();
  readonly #keys = new Map<string, number>();
  readonly #addresses = new Map<string, number>();
  readonly #verified = new VerifiedKeys();
  #connections = 0;
  #streams = 0;

  constructor(config: Config, metrics: CompatibleMetrics) {
    this.#config = config;
    this.#metrics = metrics;
    metrics.gauge('svc_compatible_connections', () => this.#connections);
    metrics.gauge('svc_compatible_streams', () => this.#streams);
  }

  get isEmpty(): boolean {
    return this.#connections === 0;
  }

  /** Throws if there are too many connections. */
  admit(input: { readonly key: string; readonly network: string }): Caller {
    const { limits, baseUrl } = this.#config;
    const { network } = input;
    const id = createHash('sha256').update(input.key).digest('base64');
    if (this.#connections >= limits.connections) throw TOO_MANY;
    if ((this.#addresses.get(network) ?? 0) >= limits.connectionsPerAddress) throw TOO_MANY_HERE;
    if ((this.#keys.get(id) ?? 0) >= limits.connectionsPerKey) throw TOO_MANY_WITH_KEY;
    this.#connections += 1;
    change(this.#addresses, network, 1);
    change(this.#keys, id, 1);
    const queue = this.#queueOf(id);
    const client = new SvcClient({
      baseUrl,
      apiKey: input.key,
      // The queue waits, and the stream retries.
      retriesMax: 0,
      timeoutMs: limits.sessionWaitMs,
      // The operator chose the address of the service.
      allowInsecure: true,
    });
    let isHere = true;
    return {
      id,
      client,
      verify: (signal) => this.#verified.verify(id, { client, signal }),
      openStream: (options) => this.#openStream({ client, queue, options }),
      leave: () => {
        if (!isHere) return;
        isHere = false;
        this.#connections -= 1;
        change(this.#addresses, network, -1);
        change(this.#keys, id, -1);
        if (!this.#keys.has(id) && queue.isIdle) this.#queues.delete(id);
      },
    };
  }

  #queueOf(id: string): SessionQueue {
    const known = this.#queues.get(id);
    if (known !== undefined) return known;
    const queue = new SessionQueue({
      waitMsMax: this.#config.limits.sessionWaitMs,
      onWaiting: () => this.#metrics.count('svc_compatible_waits_total'),
    });
    this.#queues.set(id, queue);
    return queue;
  }

  async #openStream(input: {
    readonly client: SvcClient;
    readonly queue: SessionQueue;
    readonly options: CallerStreamOptions;
  }): Promise<SvcStream> {
    const { client, queue } = input;
    const { model, signal, endpointing = false, keyterms = [] } = input.options;
    const session = await queue.reserveFirst({ client, model, signal });
    const stream = openStream({
      session,
      getSession: (request) => queue.reserveNext({ client, model, request }),
      endpointing,
      ...(keyterms.length === 0 ? {} : { keyterms }),
    });
    this.#streams += 1;
    queue.onStreamOpened();
    const onClosed = (): void => {
      this.#streams -= 1;
      queue.onStreamClosed();
    };
    void stream.closed.then(onClosed);
    closeOnAbort(stream, signal);
    return stream;
  }
}

/**
 * Closes the stream when the client has left. A session that is not ready yet would stay reserved for a minute, so it is
 * closed when it is. No audio is sent before that.
 */
function closeOnAbort(stream: SvcStream, signal: AbortSignal): void {
  let isReady = false;
  stream.on('ready', () => {
    isReady = true;
    if (signal.aborted) void stream.close();
  });
  const close = (): void => {
    if (isReady) void stream.close();
  };
  signal.addEventListener('abort', close, { once: true });
  void stream.closed.then(() => signal.removeEventListener('abort', close));
}

const TOO_MANY = busy('too_many_connections', 'This server has too many connections. Try again.');
const TOO_MANY_HERE = busy(
  'too_many_connections',
  'Too many connections from this address. Close some, then try again.',
  429,
);
const TOO_MANY_WITH_KEY = busy(
  'too_many_connections',
  'Too many connections with this API key. Close some, then try again.',
  429,
);

function change(counts: Map<string, number>, id: string, by: number): void {
  const count = (counts.get(id) ?? 0) + by;
  if (count > 0) counts.set(id, count);
  else counts.delete(id);
}
