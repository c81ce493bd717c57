import { Metadata } from '@grpc/grpc-js';
import { AUDIO, CHUNK_SAMPLES, CONTEXT_SIZE, MODEL_IDS, type ModelId } from '@svc-asr/protocol';
import {
  EngineBusy,
  EngineFailed,
  type Engine,
  type EngineHealth,
  type EngineModel,
  type EngineStream,
  type OpenInput,
} from '../engine.ts';
import { CertificateFiles, clientCredentials, type TlsFiles } from '../grpc/certificates.ts';
import { METADATA } from '../grpc/protocol.ts';
import { presentTraceparent, type TraceParent } from '../tracing/tracing.ts';
import { Discovery } from './discovery.ts';
import { PeerCall } from './peer-call.ts';
import { Peer, type PeerNotice } from './peer.ts';
import { choosePeer, compareBuilds } from './placement.ts';
import { RivaStream, type CallRequest } from './riva-stream.ts';

export interface RivaOptions {
  /** `host:port[,host:port...]` or `dns:///name:port`. */
  readonly addresses: string;
  /** Null: no TLS. */
  readonly tls: TlsFiles | null;
  /** Streams per server that does not report its capacity, as Riva and NIM do not. */
  readonly capacityPerServer?: number;
  /** The servers' names for our models. Our own nodes use the model ids. */
  readonly models?: Readonly<Record<ModelId, ServerModel>>;
  readonly onNotice?: (notice: PeerNotice) => void;
  /** How long the start waits for a first node. */
  readonly readyWithinMs?: number;
  readonly certificateLookMs?: number;
  readonly nowMs?: () => number;
}

export interface ServerModel {
  /** Empty: the server's default for the language. */
  readonly name: string;
  readonly languageCode: string;
}

/** Riva and NIM servers select a model by language and use their default model for it. */
export const RIVA_MODELS: Readonly<Record<ModelId, ServerModel>> = {
  'svc-asr-kikuyu-v1': { name: '', languageCode: 'ki-KE' },
  'svc-asr-dholuo-v1': { name: '', languageCode: 'luo-KE' },
};

export interface NodeStatus {
  readonly address: string;
  readonly state: string;
  readonly builds: Readonly<Record<string, string>>;
  readonly slots: number;
  readonly used: number;
  readonly calls: number;
  readonly lagMs: number;
}

export interface RivaEngine extends Engine {
  nodes(): readonly NodeStatus[];
}

const CAPACITY_PER_SERVER = 100;
const READY_WITHIN_MS = 5_000;
const NO_REPLAY = { build: null, bytes: 0 };

/** Recognition on other machines: engine nodes of ours, or NVIDIA's Riva and NIM servers. */
export async function startRivaEngine(options: RivaOptions): Promise<RivaEngine> {
  const engine = new RemoteEngine(options);
  await engine.start();
  return engine;
}

class RemoteEngine implements RivaEngine {
  readonly #options: RivaOptions;
  readonly #certificates: CertificateFiles | null;
  readonly #discovery: Discovery;
  readonly #peers = new Map<string, Peer>();
  readonly #streams = new Set<RivaStream>();
  readonly #firstServing = Promise.withResolvers<void>();
  #isClosed = false;

  constructor(options: RivaOptions) {
    this.#options = options;
    const { tls, certificateLookMs } = options;
    this.#certificates = tls === null ? null : new CertificateFiles(tls, certificateLookMs);
    this.#discovery = new Discovery(options.addresses, (found) => this.#update(found));
  }

  async start(): Promise<void> {
    await this.#discovery.start();
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, this.#options.readyWithinMs ?? READY_WITHIN_MS);
    await Promise.race([this.#firstServing.promise, promise]);
    clearTimeout(timer);
  }

  describe(model: ModelId): EngineModel {
    if (!MODEL_IDS.includes(model)) throw new RangeError(`Unknown model: ${model}.`);
    const builds = this.#serving().map((peer) => peer.build(model) ?? '');
    const build = builds.toSorted(compareBuilds).at(-1) || 'unknown';
    return { id: model, chunkSamples: CHUNK_SAMPLES, contextSize: CONTEXT_SIZE, build };
  }

  async open({ model, signal, replay, trace }: OpenInput): Promise<EngineStream> {
    signal.throwIfAborted();
    // Callers may abort in the same turn, as with any other engine.
    await Promise.resolve();
    signal.throwIfAborted();
    if (this.#isClosed) throw new EngineFailed();
    const { active, capacity } = this.health();
    if (active >= capacity) throw new EngineBusy();
    const peer = this.#choose(model, replay?.build ?? null);
    if (peer === null) throw new EngineBusy();
    const stream: RivaStream = new RivaStream(
      {
        choose: (build) => this.#choose(model, build),
        begin: (request) => this.#begin({ model, trace }, request),
        buildOf: (one) => one.build(model),
        onEnd: () => this.#streams.delete(stream),
      },
      { peer, replay: replay ?? NO_REPLAY },
    );
    this.#streams.add(stream);
    return stream;
  }

  health(): EngineHealth {
    const serving = this.#serving();
    return {
      ready: serving.length > 0,
      active: this.#streams.size,
      capacity: serving.reduce(
        (sum, peer) => sum + Math.max(0, peer.capacity - peer.usedByOthers),
        0,
      ),
      lagMs: serving.reduce((most, peer) => Math.max(most, peer.lagMs), 0),
    };
  }

  nodes(): readonly NodeStatus[] {
    return [...this.#peers.values()].map((peer) => ({
      address: peer.address,
      state: peer.state,
      builds: Object.fromEntries(MODEL_IDS.map((id) => [id, peer.build(id) ?? ''])),
      slots: peer.capacity,
      used: peer.used,
      calls: peer.calls.size,
      lagMs: peer.lagMs,
    }));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#discovery.stop();
    for (const stream of this.#streams) stream.fail('engine_closed');
    for (const peer of this.#peers.values()) peer.close();
    this.#certificates?.close();
  }

  #serving(): Peer[] {
    return this.#isClosed ? [] : [...this.#peers.values()].filter((peer) => peer.isServing);
  }

  #choose(model: ModelId, build: string | null): Peer | null {
    return choosePeer(this.#serving(), { model, build });
  }

  #begin(
    { model, trace }: { readonly model: ModelId; readonly trace: TraceParent | undefined },
    { peer, replay, onText }: CallRequest,
  ): PeerCall {
    const metadata = new Metadata();
    if (trace !== undefined) metadata.set(METADATA.traceparent, presentTraceparent(trace));
    if (peer.reportsLoad) metadata.set(METADATA.acknowledge, '1');
    if (replay.build !== null) metadata.set(METADATA.build, replay.build);
    if (replay.bytes > 0) metadata.set(METADATA.replayBytes, String(replay.bytes));
    const call = new PeerCall({
      call: peer.recognize(metadata),
      isOurs: peer.reportsLoad,
      onText,
      onLoad: (load) => peer.heard(load),
      nowMs: this.#options.nowMs ?? (() => performance.now()),
    });
    const server = this.#options.models?.[model] ?? { name: model, languageCode: '' };
    const config = {
      encoding: 'LINEAR_PCM',
      sampleRateHertz: AUDIO.sampleRateHz,
      audioChannelCount: 1,
      maxAlternatives: 1,
      enableWordTimeOffsets: true,
      model: server.name,
      languageCode: server.languageCode,
    };
    void call.send({ streamingConfig: { config, interimResults: true } });
    return call;
  }

  /** Nodes that are no longer listed finish their calls. */
  #update(addresses: ReadonlySet<string>): void {
    if (this.#isClosed) return;
    for (const [address, peer] of this.#peers) {
      if (addresses.has(address)) continue;
      this.#peers.delete(address);
      peer.retire();
    }
    for (const address of addresses) {
      if (this.#peers.has(address)) continue;
      const peer = new Peer({
        address,
        credentials: clientCredentials(this.#certificates),
        isSecure: this.#certificates !== null,
        capacity: this.#options.capacityPerServer ?? CAPACITY_PER_SERVER,
        onNotice: (notice) => {
          if (notice.notice === 'node_serving') this.#firstServing.resolve();
          this.#options.onNotice?.(notice);
        },
      });
      this.#peers.set(address, peer);
    }
  }
}
