import { Metadata } from '@grpc/grpc-js';
import {
  AUDIO,
  CHUNK_SAMPLES,
  CONTEXT_SIZE,
  MODEL_IDS,
  type ModelId,
} from '@svc-asr/protocol/constants.ts';
import {
  EngineBusy,
  EngineFailed,
  type Engine,
  type EngineHealth,
  type EngineModel,
  type EngineStream,
  type OpenInput,
} from '../engine.ts';
import { CertificateFiles, clientCredentials } from '../grpc/certificates.ts';
import { METADATA } from '../grpc/protocol.ts';
import { presentTraceparent, type TraceParent } from '@svc-asr/runtime/tracing.ts';
import type { TlsFiles } from '@svc-asr/runtime/tls-files.ts';
import { Discovery } from './discovery.ts';
import { PeerCall } from './peer-call.ts';
import { Peer, type PeerNotice, type PeerSlot } from './peer.ts';
import { choosePeer, compareBuilds, fits, isWorthMoving } from './placement.ts';
import { RivaStream, type CallRequest } from './riva-stream.ts';

interface RivaOptions {
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

interface EngineNodeStatus {
  readonly address: string;
  readonly state: string;
  readonly builds: Readonly<Record<string, string>>;
  readonly slots: number;
  readonly used: number;
  readonly calls: number;
  readonly lagMs: number;
}

export interface RivaEngine extends Engine {
  nodes(): readonly EngineNodeStatus[];
}

const CAPACITY_PER_SERVER = 100;
const READY_WITHIN_MS = 5_000;
/** How long the slot of a failed stream is kept for its replay. */
const KEEP_MS = 1_000;
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
  /** Slots of streams that failed. The next streams take them first. */
  readonly #kept = new Set<PeerSlot>();
  /** Moves of streams from one node to another. */
  readonly #moves = new Set<Promise<unknown>>();
  #opening = 0;
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
    const serving = this.#serving();
    const builds = serving.map((peer) => peer.build(model) ?? '');
    const build = builds.toSorted(compareBuilds).at(-1) || 'unknown';
    // While weights are exchanged, an utterance may be recognised by any node.
    const keyterms = serving.length > 0 && serving.every((peer) => peer.takesKeyterms(model));
    return { id: model, chunkSamples: CHUNK_SAMPLES, contextSize: CONTEXT_SIZE, build, keyterms };
  }

  async open({ model, signal, replay, trace }: OpenInput): Promise<EngineStream> {
    signal.throwIfAborted();
    // Callers may abort in the same turn, as with any other engine.
    await Promise.resolve();
    signal.throwIfAborted();
    if (this.#isClosed) throw new EngineFailed();
    const { active, capacity } = this.health();
    if (active >= capacity) throw new EngineBusy();
    this.#opening += 1;
    const slot = await this.#takeAfterMoves(model, replay?.build ?? null);
    this.#opening -= 1;
    if (signal.aborted || this.#isClosed) slot?.release();
    signal.throwIfAborted();
    if (this.#isClosed) throw new EngineFailed();
    if (slot === null) throw new EngineBusy();
    const stream: RivaStream = new RivaStream(
      {
        take: (build, except) => this.#take(model, build, except),
        onMove: (moving) => this.#follow(moving),
        canServe: (peer, build) => peer.isServing && fits(peer, { model, build }),
        shouldLeave: (peer, build) => this.#shouldLeave(model, { peer, build }),
        begin: (request) => this.#begin({ model, trace }, request),
        buildOf: (one) => one.build(model),
        onFailed: (one) => this.#keep(one),
        onEnd: () => this.#streams.delete(stream),
      },
      { slot, replay: replay ?? NO_REPLAY },
    );
    this.#streams.add(stream);
    return stream;
  }

  health(): EngineHealth {
    const serving = this.#serving();
    return {
      ready: serving.length > 0,
      active: this.#streams.size + this.#opening,
      capacity: serving.reduce(
        (sum, peer) => sum + Math.max(0, peer.capacity - peer.usedByOthers),
        0,
      ),
      lagMs: serving.reduce((most, peer) => Math.max(most, peer.lagMs), 0),
    };
  }

  nodes(): readonly EngineNodeStatus[] {
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

  /** A stream that moves, or was closed while it did, is about to release a slot. */
  async #takeAfterMoves(model: ModelId, build: string | null): Promise<PeerSlot | null> {
    for (;;) {
      const slot = await this.#take(model, build);
      if (slot !== null || this.#moves.size === 0) return slot;
      await Promise.all(this.#moves);
    }
  }

  #follow(moving: Promise<unknown>): void {
    this.#moves.add(moving);
    void moving.then(() => this.#moves.delete(moving));
  }

  /** Takes a slot on the best node that has one. Resolves with null if none has. */
  async #take(
    model: ModelId,
    build: string | null,
    except: Peer | null = null,
  ): Promise<PeerSlot | null> {
    for (const slot of this.#kept) {
      const { peer } = slot;
      if (!slot.isHeld || !peer.isServing || peer === except) continue;
      if (fits(peer, { model, build }) && this.#kept.delete(slot)) return slot;
    }
    const full = new Set([except]);
    for (;;) {
      const rest = this.#serving().filter((peer) => !full.has(peer));
      const peer = choosePeer(rest, { model, build });
      if (peer === null) return null;
      const slot = await peer.takeSlot();
      if (slot !== null) return slot;
      full.add(peer);
    }
  }

  /** Otherwise a stream of another gateway could take it before the replay does. */
  #keep(slot: PeerSlot): void {
    if (!slot.isHeld) return;
    this.#kept.add(slot);
    const timer = setTimeout(() => {
      if (this.#kept.delete(slot)) slot.release();
    }, KEEP_MS);
    timer.unref();
  }

  #shouldLeave(
    model: ModelId,
    { peer, build }: { readonly peer: Peer; readonly build: string | null },
  ): boolean {
    const rest = this.#serving().filter((one) => one !== peer);
    const to = choosePeer(rest, { model, build });
    return to !== null && isWorthMoving(model, { from: peer, to });
  }

  #begin(
    { model, trace }: { readonly model: ModelId; readonly trace: TraceParent | undefined },
    { peer, replay, keyterms, onText }: CallRequest,
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
      onLoad: (load) => peer.onLoad(load),
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
      ...(keyterms.length === 0 ? {} : { speechContexts: [{ phrases: keyterms }] }),
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
