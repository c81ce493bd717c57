import type { Http2Session } from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { Server, status, type sendUnaryData, type ServerUnaryCall } from '@grpc/grpc-js';
import { ReflectionService } from '@grpc/reflection';
import { MODEL_IDS, type ModelId } from '@svc-asr/protocol/constants.ts';
import type { Engine, EngineHealth } from '../engine.ts';
import { CertificateFiles, hasName, serverCredentials } from '../grpc/certificates.ts';
import type { TlsFiles } from '@svc-asr/runtime/tls-files.ts';
import {
  HEALTH_SERVICE,
  RECOGNITION_SERVICE,
  ROLE_NAME,
  SLOTS_SERVICE,
  type ModelConfigResponse,
} from '../grpc/protocol.ts';
import { packageDefinition, serviceDefinition } from '../grpc/service-definitions.ts';
import type { Tracing } from '@svc-asr/runtime/tracing.ts';
import { presentLoad } from '../grpc/load-report.ts';
import { HealthService } from './health-service.ts';
import { addressesOf, openPort, type MissedAddress } from './open-port.ts';
import { RecognizeCall, type RecognizeStream } from './recognize-call.ts';
import { EngineNodeSlots, type HoldStream } from './node-slots.ts';
import { UnprovenConnections } from './unproven-connections.ts';

interface EngineNodeOptions {
  readonly engine: Engine;
  /** Such as 0.0.0.0:50051. Port 0 picks a free port. */
  readonly address: string;
  /** Null: no TLS. */
  readonly tls: TlsFiles | null;
  /** The language of each model, for clients that name no model. */
  readonly languages?: ReadonlyMap<string, ModelId>;
  readonly onCall?: (code: status) => void;
  readonly tracing?: Tracing | null;
  /** How often to poll the certificate files. */
  readonly certificateLookMs?: number;
  /** How long a connection may exist without a call of a gateway. */
  readonly proveWithinMs?: number;
  readonly nowMs?: () => number;
}

export interface EngineNode {
  readonly port: number;
  /** Addresses of its host that it could not listen on, and why. Connections to them fail. */
  readonly missed: readonly MissedAddress[];
  readonly calls: number;
  /** The engine's health, with every slot that a gateway holds counted as active. */
  health(): EngineHealth;
  /** Refuses new calls, waits this long for open utterances to end, then ends the rest. */
  drain(drainMs: number): Promise<void>;
  close(): Promise<void>;
}

const TICK_MS = 250;
/** A chunk is 36 KB; Riva clients send less at a time. */
const MESSAGE_BYTES_MAX = 1024 * 1024;
/** Calls hold themselves back by acknowledgements, and each still has its own window of 64 KB. */
const CONNECTION_WINDOW_BYTES = 8 * 1024 * 1024;
const SETTLE_MS = 1_000;
/** A gateway that answers no ping is lost after 15 s, and its slots are free. */
const KEEP_ALIVE = { 'grpc.keepalive_time_ms': 10_000, 'grpc.keepalive_timeout_ms': 5_000 };

/** Serves an engine over gRPC in Riva's protocol. */
export async function startEngineNode(options: EngineNodeOptions): Promise<EngineNode> {
  const { engine, tls, nowMs = () => performance.now() } = options;
  const certificates = tls === null ? null : new CertificateFiles(tls, options.certificateLookMs);
  const slots = new EngineNodeSlots(engine);
  const health = new HealthService(slots, refusal);
  const calls = new Set<RecognizeCall>();
  let isDraining = false;

  /** Ends a call that this node must not serve, and returns whether it did. */
  function isRefused(call: RecognizeStream | HoldStream): boolean {
    const details = isDraining ? 'This node is shutting down.' : refusal(call);
    if (details === null) return false;
    const code = isDraining ? status.UNAVAILABLE : status.PERMISSION_DENIED;
    call.emit('error', { code, details, metadata: presentLoad(slots.health()) });
    return true;
  }

  const widened = new WeakSet<object>();

  /** The calls of a gateway share its connections, whose window holds fewer than two chunks by default. */
  function widen(call: RecognizeStream): void {
    const connection = connectionOf(call);
    if (connection === null || widened.has(connection)) return;
    widened.add(connection);
    connection.setLocalWindowSize(CONNECTION_WINDOW_BYTES);
  }

  function recognize(call: RecognizeStream): void {
    if (isRefused(call)) return;
    widen(call);
    const recognizing = new RecognizeCall({
      engine,
      slots,
      call,
      languages: options.languages ?? new Map(),
      tracing: options.tracing ?? null,
      nowMs,
      onEnd: (code) => {
        calls.delete(recognizing);
        options.onCall?.(code);
      },
    });
    calls.add(recognizing);
  }

  const gateways = new WeakSet<object>();
  const unproven = new UnprovenConnections(options.proveWithinMs);

  function refusal(call: Pick<RecognizeStream, 'getAuthContext' | 'getPeer'>): string | null {
    // Reading the certificate took 3 % of a node. A connection keeps its certificate.
    const connection = connectionOf(call);
    if (connection !== null && gateways.has(connection)) return null;
    if (tls !== null && !hasName(call.getAuthContext().sslPeerCertificate, ROLE_NAME.gateway)) {
      return `The client certificate must name ${ROLE_NAME.gateway}.`;
    }
    if (connection !== null) gateways.add(connection);
    unproven.prove(call.getPeer());
    return null;
  }

  const server = new Server({
    'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
    ...KEEP_ALIVE,
  });
  server.addService(serviceDefinition(RECOGNITION_SERVICE), {
    streamingRecognize: recognize,
    getRivaSpeechRecognitionConfig: (
      call: ModelConfigCall,
      answer: sendUnaryData<ModelConfigResponse>,
    ) => {
      const details = refusal(call);
      if (details !== null) return answer({ code: status.PERMISSION_DENIED, details });
      answer(null, describeModels(engine, options.languages ?? new Map(), call.request.modelName));
    },
  });
  server.addService(serviceDefinition(SLOTS_SERVICE), {
    hold: (call: HoldStream) => {
      if (!isRefused(call)) slots.hold(call);
    },
  });
  server.addService(serviceDefinition(HEALTH_SERVICE), health.handlers());
  new ReflectionService(packageDefinition()).addToServer(server);
  const connections = server.createConnectionInjector(serverCredentials(certificates));
  const listening = await openPort(await addressesOf(options.address), (socket) => {
    unproven.add(socket);
    connections.injectConnection(socket);
  });
  const ticking = setInterval(() => {
    health.notify();
    for (const call of calls) call.endIfIdle(nowMs());
  }, TICK_MS);

  async function close(): Promise<void> {
    clearInterval(ticking);
    const disconnected = listening.close();
    for (const call of calls) call.drop();
    slots.close();
    health.close();
    certificates?.close();
    // Give the last statuses time to be sent.
    const closed = new Promise<void>((resolve) => server.tryShutdown(() => resolve()));
    const settled = Promise.all([closed, disconnected]);
    await Promise.race([settled, sleep(SETTLE_MS, undefined, { ref: false })]);
    server.forceShutdown();
    unproven.close();
  }
  return {
    port: listening.port,
    missed: listening.missed,
    get calls() {
      return calls.size;
    },
    health: () => slots.health(),
    async drain(drainMs) {
      isDraining = true;
      slots.drain();
      health.drain();
      const deadlineMs = performance.now() + drainMs;
      while (calls.size > 0 && performance.now() < deadlineMs) await sleep(TICK_MS / 5);
      await close();
    },
    close,
  };
}

/** The HTTP/2 session of a call, which grpc-js keeps to itself. Null if a later version keeps it elsewhere. */
function connectionOf(call: object): Http2Session | null {
  let found: unknown = call;
  for (const field of ['call', 'stream', 'session']) {
    if (typeof found !== 'object' || found === null) return null;
    found = Reflect.get(found, field);
  }
  return isSession(found) ? found : null;
}

function isSession(found: unknown): found is Http2Session {
  return typeof found === 'object' && found !== null && 'setLocalWindowSize' in found;
}

type ModelConfigCall = ServerUnaryCall<{ modelName?: string }, ModelConfigResponse>;

/** Describes this node's models, or one of them, in Riva's format. */
function describeModels(
  engine: Engine,
  languages: ReadonlyMap<string, ModelId>,
  name: string | undefined,
): ModelConfigResponse {
  const modelConfig = MODEL_IDS.filter((id) => !name || name === id).map((id) => {
    const { build, chunkSamples, contextSize, keyterms } = engine.describe(id);
    const language = [...languages].find(([, model]) => model === id)?.[0] ?? '';
    return {
      modelName: id,
      parameters: {
        type: 'online',
        language_code: language,
        sample_rate: '16000',
        streaming: 'True',
        build,
        keyterms: keyterms ? 'True' : 'False',
        chunk_samples: String(chunkSamples),
        context_size: contextSize.join(','),
      },
    };
  });
  return { modelConfig };
}
