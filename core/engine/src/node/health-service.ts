import {
  status,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServerWritableStream,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { METADATA, RECOGNITION_SERVICE, type HealthResponse } from '../grpc/protocol.ts';
import type { EngineNodeSlots } from './node-slots.ts';

interface HealthRequest {
  readonly service?: string;
}

type Status = NonNullable<HealthResponse['status']>;
type Call = Pick<ServerUnaryCall<HealthRequest, HealthResponse>, 'getAuthContext' | 'getPeer'>;

/** The standard health service. Every answer to Check also reports the node's load, so one call is the heartbeat. */
export class HealthService {
  readonly #slots: EngineNodeSlots;
  readonly #watchers = new Set<ServerWritableStream<HealthRequest, HealthResponse>>();
  #isDraining = false;
  readonly #refusal: (call: Call) => string | null;
  #sent: Status = 'SERVING';

  /**
   * If `refusal` returns a reason, the caller gets an error, so a gateway with the wrong certificate
   * never sends audio.
   */
  constructor(slots: EngineNodeSlots, refusal: (call: Call) => string | null) {
    this.#slots = slots;
    this.#refusal = refusal;
  }

  /** Sets the status to NOT_SERVING permanently. */
  drain(): void {
    this.#isDraining = true;
    this.notify();
  }

  /** Notifies watchers if the status has changed. */
  notify(): void {
    const serving = this.#status();
    if (serving === this.#sent) return;
    this.#sent = serving;
    for (const watcher of this.#watchers) watcher.write({ status: serving });
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.end();
    this.#watchers.clear();
  }

  handlers(): UntypedServiceImplementation {
    return {
      check: (
        call: ServerUnaryCall<HealthRequest, HealthResponse>,
        answer: sendUnaryData<HealthResponse>,
      ) => {
        const details = this.#refusal(call);
        if (details !== null) return answer({ code: status.PERMISSION_DENIED, details });
        const serving = isOurs(call.request) ? this.#status() : 'SERVICE_UNKNOWN';
        const [holder] = call.metadata.get(METADATA.holder);
        const report = this.#slots.report(holder === undefined ? null : String(holder));
        answer(null, { status: serving }, report);
      },
      watch: (call: ServerWritableStream<HealthRequest, HealthResponse>) => {
        const details = this.#refusal(call);
        if (details !== null) {
          return void call.emit('error', { code: status.PERMISSION_DENIED, details });
        }
        if (!isOurs(call.request)) return void call.write({ status: 'SERVICE_UNKNOWN' });
        call.write({ status: this.#status() });
        this.#watchers.add(call);
        call.on('cancelled', () => this.#watchers.delete(call));
      },
    };
  }

  #status(): Status {
    return this.#isDraining || !this.#slots.health().ready ? 'NOT_SERVING' : 'SERVING';
  }
}

function isOurs({ service = '' }: HealthRequest): boolean {
  return service === '' || service === RECOGNITION_SERVICE;
}
