import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Language } from '@svc-asr/protocol/languages.ts';
import type { Caller } from './callers.ts';
import type { ClientSocket } from '@svc-asr/runtime/client-socket.ts';
import type { Config } from './config.ts';
import type { Decoders } from './audio/decoders.ts';
import type { CompatibleMetrics, DoorName } from './metrics.ts';
import type { Api, Refusal } from './refusal.ts';

/** One endpoint of another service's API. Errors that a door throws are answered in the form of its API. */
export interface Door {
  /** For metrics. */
  readonly name: DoorName;
  readonly api: Api;
  /** Exact paths, without a language prefix, such as `/v1/listen`. */
  readonly paths: readonly string[];
  /** By method. Others are answered with 405. */
  readonly handle?: Readonly<
    Partial<Record<'GET' | 'POST', (visit: Visit, context: DoorContext) => Promise<void>>>
  >;
  /** Serves a WebSocket. Resolves when it has closed. */
  readonly connect?: (handshake: Handshake, context: DoorContext) => Promise<void>;
  /**
   * Refuses a WebSocket inside the protocol: the server accepts it, calls this and closes it. Without it the handshake
   * is refused with an HTTP status.
   */
  readonly refuseSocket?: (socket: ClientSocket, refusal: Refusal) => void;
  /** Which clients are refused inside. Default: all of them. */
  readonly refusesInside?: (request: IncomingMessage) => boolean;
}

/** What all doors share. */
export interface DoorContext {
  readonly config: Config;
  readonly metrics: CompatibleMetrics;
  readonly decoders: Decoders;
  readonly log: Log;
}

/** Problems for the operator, without keys, audio or text. */
export type Log = (notice: Notice) => void;
export interface Notice {
  readonly level: 'warning' | 'error';
  readonly code: string;
  readonly message: string;
}

interface Admitted {
  readonly request: IncomingMessage;
  /** The one in the `x-request-id` of the response. */
  readonly requestId: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** The `/ki` or `/luo` before the path. */
  readonly prefix: Language | null;
  readonly caller: Caller;
  /** Aborted when the client has hung up and when the program stops. */
  readonly signal: AbortSignal;
  /** Reports a parameter without effect. Each name is sent once, in the header `svc-ignored-parameters`. */
  ignore(name: string): void;
}

export interface Visit extends Admitted {
  readonly response: ServerResponse;
}

export interface Handshake extends Admitted {
  /**
   * Answers 101. Reserve the session first: a client that is refused with an HTTP status knows whether to retry, and a
   * client that was accepted doesn't.
   */
  accept(): Promise<ClientSocket>;
}
