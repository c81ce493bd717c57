import {
  makeClientConstructor,
  Metadata,
  status,
  type ChannelCredentials,
  type Client,
  type ServiceError,
} from '@grpc/grpc-js';
import { isModelId, type ModelId } from '@svc-asr/protocol/constants.ts';
import {
  HEALTH_SERVICE,
  METADATA,
  RECOGNITION_SERVICE,
  ROLE_NAME,
  SLOTS_SERVICE,
  type HealthResponse,
  type ModelConfigResponse,
  type SlotRequest,
  type SlotResponse,
  type StreamingRecognizeRequest,
  type StreamingRecognizeResponse,
} from '../grpc/protocol.ts';
import { serviceDefinition } from '../grpc/service-definitions.ts';
import { parseLoad, type LoadReport } from '../grpc/load-report.ts';
import { InvalidAnswer, readBuild } from '../recogniser-answer.ts';
import { HeldSlots, type HeldSlot } from './held-slots.ts';
import type { PeerCall, RecognizeClientStream } from './peer-call.ts';

/** Heartbeat interval. A node that is silent for SILENT_BEATS_MAX intervals is lost. */
const BEAT_MS = 250;
const SILENT_BEATS_MAX = 8;
const RECONNECT_BEATS = 12;
/** A node with an invalid answer gets no calls for ten seconds, then for twice as long each time, up to five minutes. */
const DISTRUST_BEATS_MIN = 10_000 / BEAT_MS;
const DISTRUST_BEATS_MAX = 300_000 / BEAT_MS;
/** The words of the longest utterance need less. */
const MESSAGE_BYTES_MAX = 1024 * 1024;
/** A server lists a few models. */
const MODELS_MAX = 256;
/** grpc-js servers have a 64 KB window per connection. Several connections help over high-latency links. */
const CONNECTIONS = 2;

const CHANNEL_OPTIONS = {
  // Each client gets its own connections.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.min_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  // Our own code decides what to retry and where.
  'grpc.enable_retries': 0,
  'grpc.service_config_disable_resolution': 1,
  'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
} as const;

export interface PeerInput {
  readonly address: string;
  readonly credentials: ChannelCredentials;
  readonly isSecure: boolean;
  /** Streams per server that doesn't report its capacity. */
  readonly capacity: number;
  readonly onNotice: (notice: PeerNotice) => void;
}

export interface PeerNotice {
  readonly notice: 'node_serving' | 'node_draining' | 'node_lost';
  readonly address: string;
  readonly reason?: 'disconnected' | 'silent' | 'refused' | 'invalid_answer';
}

/** One slot of a node. */
export type PeerSlot = HeldSlot<Peer>;

type PeerState = 'connecting' | 'serving' | 'draining' | 'lost';

const Recognition = makeClientConstructor(serviceDefinition(RECOGNITION_SERVICE), 'Recognition');

/** One engine node as this process sees it: its connections, its heartbeat, its load, and our slots and calls on it. */
export class Peer {
  readonly address: string;
  readonly calls = new Set<PeerCall>();
  readonly #input: PeerInput;
  readonly #timer: NodeJS.Timeout;
  readonly #held = new HeldSlots<Peer>(this);
  #clients: Client[];
  #models: ServedModels = { builds: new Map(), keyterms: new Set() };
  #state: PeerState = 'connecting';
  #load: LoadReport | null = null;
  /** Slots that other gateways use, by the last two heartbeats. */
  #others: readonly [number, number] = [0, 0];
  #silentBeats = 0;
  /** Beats until the node may serve again after an invalid answer, and how many the next one costs. */
  #distrustBeats = 0;
  #nextDistrustBeats = DISTRUST_BEATS_MIN;
  #isBeating = false;
  #isJoining = false;
  #isRetired = false;
  #turn = 0;

  constructor(input: PeerInput) {
    this.#input = input;
    this.address = input.address;
    this.#clients = this.#connect();
    this.#timer = setInterval(() => this.#beat(), BEAT_MS);
    this.#beat();
  }

  get state(): PeerState {
    return this.#state;
  }

  get isServing(): boolean {
    return this.#state === 'serving';
  }

  get capacity(): number {
    return this.#load?.capacity ?? this.#input.capacity;
  }

  get lagMs(): number {
    return this.#load?.lagMs ?? 0;
  }

  /**
   * Slots that other gateways use. A server without reports counts as used by this gateway only. A report of a node
   * that grants no slots may still include a call that has just ended, so the smaller of the last two counts.
   */
  get usedByOthers(): number {
    return Math.min(...this.#others);
  }

  get used(): number {
    return this.#held.count + this.usedByOthers;
  }

  /** Takes a slot for a stream, busy or idle. Resolves with null if the node has none. */
  async takeSlot(): Promise<PeerSlot | null> {
    const slot = await this.#held.take();
    // Others hold all the slots that we don't, whatever the last heartbeat reported.
    if (slot === null && this.isServing) {
      const others = Math.max(0, this.capacity - this.#held.count);
      this.#others = [others, others];
    }
    return slot;
  }

  /** True for our own nodes, which report their load and confirm each call. */
  get reportsLoad(): boolean {
    return this.#load !== null;
  }

  /** Null if the server doesn't report it; then any weights match. */
  build(model: ModelId): string | null {
    return this.#models.builds.get(model) ?? null;
  }

  /** False for servers that don't say so. */
  takesKeyterms(model: ModelId): boolean {
    return this.#models.keyterms.has(model);
  }

  recognize(metadata: Metadata): RecognizeClientStream {
    this.#turn += 1;
    if (this.#held.holder !== null) metadata.set(METADATA.holder, this.#held.holder);
    const { path, requestSerialize, responseDeserialize } = method('StreamingRecognize');
    const client = this.#clients[this.#turn % this.#clients.length];
    if (client === undefined) throw new RangeError('A node has at least one connection.');
    return client.makeBidiStreamRequest<StreamingRecognizeRequest, StreamingRecognizeResponse>(
      path,
      requestSerialize,
      responseDeserialize,
      metadata,
    );
  }

  /** Records that the node responded. */
  onLoad(load: LoadReport | null): void {
    this.#silentBeats = 0;
    if (load === null) return;
    this.#load = load;
  }

  /** A call ended because its node was lost. Opens no new ones until a heartbeat is answered. */
  disconnected(): void {
    if (this.#state === 'serving') this.#lose('disconnected');
  }

  /** The node does what no working node does. Its calls continue on others, and it gets no new ones for a while. */
  distrust(reason: 'invalid_answer' | 'silent' = 'invalid_answer'): void {
    if (this.#distrustBeats > 0) return;
    this.#distrustBeats = this.#nextDistrustBeats;
    this.#nextDistrustBeats = Math.min(2 * this.#nextDistrustBeats, DISTRUST_BEATS_MAX);
    this.#lose(reason);
  }

  /** No longer listed: closes once its calls have ended. */
  retire(): void {
    this.#isRetired = true;
    this.#state = 'draining';
    void Promise.all([...this.calls].map((call) => call.ended)).then(() => this.close());
  }

  close(): void {
    this.#isRetired = true;
    clearInterval(this.#timer);
    this.#state = 'lost';
    for (const call of this.calls) call.cancel();
    this.#held.lose();
    for (const client of this.#clients) client.close();
  }

  #connect(): Client[] {
    const { address, credentials, isSecure } = this.#input;
    const name = isSecure ? { 'grpc.ssl_target_name_override': ROLE_NAME.engine } : {};
    return Array.from(
      { length: CONNECTIONS },
      () => new Recognition(address, credentials, { ...CHANNEL_OPTIONS, ...name }),
    );
  }

  /** Counts our own ticks instead of the clock, so that a paused gateway doesn't give up on healthy nodes. */
  #beat(): void {
    for (const call of this.calls) call.keepAlive();
    this.#distrustBeats = Math.max(0, this.#distrustBeats - 1);
    this.#silentBeats += 1;
    this.#held.beat();
    if (this.#silentBeats > SILENT_BEATS_MAX && this.#state !== 'lost') this.#lose('silent');
    // It answers heartbeats, so it would serve again at once.
    if (this.#held.silentBeats > SILENT_BEATS_MAX) this.distrust('silent');
    // A connection, or an attempt to connect, can hang for minutes. A new one recovers sooner.
    if (this.#silentBeats % RECONNECT_BEATS === 0) this.#reconnect();
    if (this.#isBeating) return;
    this.#isBeating = true;
    const metadata = new Metadata({ waitForReady: false });
    if (this.#held.holder !== null) metadata.set(METADATA.holder, this.#held.holder);
    const { path, requestSerialize, responseDeserialize } = method('Check', HEALTH_SERVICE);
    const deadline = Date.now() + BEAT_MS * SILENT_BEATS_MAX;
    const [client] = this.#clients;
    const call = client?.makeUnaryRequest<object, HealthResponse>(
      path,
      requestSerialize,
      responseDeserialize,
      {},
      metadata,
      { deadline },
      (error, response) => {
        if (client !== this.#clients[0]) return;
        this.#isBeating = false;
        if (error !== null) this.#missed(error);
        else void this.#answered(response?.status ?? 'UNKNOWN');
      },
    );
    call?.on('status', ({ metadata: trailer }) => {
      const load = parseLoad(trailer);
      if (load === null) return;
      this.onLoad(load);
      // Nodes that grant no slots report the calls that are open.
      const ours = load.held ?? this.calls.size;
      this.#others = [this.#others[1], Math.max(0, load.active - ours)];
    });
  }

  #missed({ code }: ServiceError): void {
    if (code === status.UNAVAILABLE) this.disconnected();
    if (code === status.PERMISSION_DENIED || code === status.UNAUTHENTICATED) this.#lose('refused');
    // A server without the health service counts as healthy while it responds.
    if (code === status.UNIMPLEMENTED) void this.#answered('SERVING');
  }

  async #answered(serving: HealthResponse['status']): Promise<void> {
    this.#silentBeats = 0;
    if (serving !== 'SERVING') {
      if (this.#state === 'serving') this.#become('draining');
      return;
    }
    if (!this.#mayServe || this.#isJoining) return;
    this.#isJoining = true;
    // A node may return with other weights.
    await this.#readModels();
    const canHold = !this.reportsLoad || (await this.#hold());
    this.#isJoining = false;
    if (this.#mayServe && canHold) this.#become('serving');
  }

  /** Resolves with whether slots of this node can be taken. */
  async #hold(): Promise<boolean> {
    const [client] = this.#clients;
    if (this.#held.holder !== null || client === undefined) return true;
    const { path, requestSerialize, responseDeserialize } = method('Hold', SLOTS_SERVICE);
    const call = client.makeBidiStreamRequest<SlotRequest, SlotResponse>(
      path,
      requestSerialize,
      responseDeserialize,
    );
    const timer = setTimeout(() => call.cancel(), BEAT_MS * SILENT_BEATS_MAX);
    const canHold = await this.#held.begin(call, {
      onEnd: () => this.disconnected(),
      onInvalid: () => {
        this.#held.lose();
        this.distrust();
      },
    });
    clearTimeout(timer);
    return canHold;
  }

  get #mayServe(): boolean {
    return !this.isServing && !this.#isRetired && this.#distrustBeats === 0;
  }

  async #readModels(): Promise<void> {
    const { path, requestSerialize, responseDeserialize } = method(
      'GetRivaSpeechRecognitionConfig',
    );
    const deadline = Date.now() + BEAT_MS * SILENT_BEATS_MAX;
    const response = await new Promise<ModelConfigResponse | null>((resolve) => {
      this.#clients[0]?.makeUnaryRequest<object, ModelConfigResponse>(
        path,
        requestSerialize,
        responseDeserialize,
        {},
        new Metadata(),
        { deadline },
        (error, answer) => resolve(error === null ? (answer ?? null) : null),
      );
    });
    try {
      this.#models = readModels(response ?? {});
    } catch (error) {
      if (!(error instanceof InvalidAnswer)) throw error;
      this.distrust();
    }
  }

  #lose(reason: NonNullable<PeerNotice['reason']>): void {
    if (this.#state === 'lost') return;
    const wasKnown = this.#state !== 'connecting';
    this.#state = 'lost';
    this.#load = null;
    this.#others = [0, 0];
    this.#held.lose();
    if (wasKnown || reason === 'refused' || reason === 'invalid_answer') {
      this.#input.onNotice({ notice: 'node_lost', address: this.address, reason });
    }
    const why = reason === 'silent' ? 'silent' : 'disconnected';
    for (const call of this.calls) call.giveUp(why);
  }

  #reconnect(): void {
    this.#held.lose();
    for (const client of this.#clients) client.close();
    this.#clients = this.#connect();
    this.#isBeating = false;
  }

  #become(state: 'serving' | 'draining'): void {
    this.#state = state;
    const notice = state === 'serving' ? 'node_serving' : 'node_draining';
    this.#input.onNotice({ notice, address: this.address });
  }
}

/** Our models on a server. */
interface ServedModels {
  readonly builds: ReadonlyMap<string, string>;
  /** Those that take keyterms. */
  readonly keyterms: ReadonlySet<string>;
}

/** Servers may list other models. */
function readModels({ modelConfig = [] }: ModelConfigResponse): ServedModels {
  if (modelConfig.length > MODELS_MAX) throw new InvalidAnswer('too many models');
  const builds = new Map<string, string>();
  const keyterms = new Set<string>();
  for (const { modelName = '', parameters = {} } of modelConfig) {
    const build = isModelId(modelName) ? readBuild(parameters['build']) : null;
    if (build !== null) builds.set(modelName, build);
    if (isModelId(modelName) && parameters['keyterms'] === 'True') keyterms.add(modelName);
  }
  return { builds, keyterms };
}

function method(name: string, service = RECOGNITION_SERVICE) {
  const definition = serviceDefinition(service)[name];
  if (definition === undefined) throw new RangeError(`The protocol has no method ${name}.`);
  return definition;
}
