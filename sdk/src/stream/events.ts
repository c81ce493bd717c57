import type {
  DeltaEvent,
  ErrorEvent,
  FinalEvent,
  ReadyEvent,
  StatusEvent,
} from '@svc-asr/protocol';
import type { SvcError } from '../errors.ts';
import type { CloseInfo } from './close-info.ts';
import { EventQueue } from './event-queue.ts';

/** The stream is between two sessions. Nothing is lost: what the next one must hear is kept. */
export interface ReconnectingEvent {
  readonly type: 'reconnecting';
  readonly why: 'failover' | 'rollover' | 'resume';
  /** How the last session ended. */
  readonly close: CloseInfo;
  /** How long until the next try. */
  readonly waitMs: number;
}

/** What `for await` yields. `error` events here are not fatal: a fatal one is thrown. */
export type StreamEvent =
  | ReadyEvent
  | StatusEvent
  | DeltaEvent
  | FinalEvent
  | ErrorEvent
  | ReconnectingEvent;

/** What `on()` listens to. */
export interface StreamListeners {
  ready: ReadyEvent;
  status: StatusEvent;
  delta: DeltaEvent;
  final: FinalEvent;
  /** The service ignored something and went on. */
  warning: ErrorEvent;
  reconnecting: ReconnectingEvent;
  /** The stream ended badly; `close` follows. Without a listener it is silent. */
  error: SvcError;
  close: CloseInfo;
}

type Listener<K extends keyof StreamListeners> = (value: StreamListeners[K]) => void;
export type Unsubscribe = () => void;

export class StreamEvents {
  readonly #listeners: { [K in keyof StreamListeners]: Set<Listener<K>> } = {
    ready: new Set(),
    status: new Set(),
    delta: new Set(),
    final: new Set(),
    warning: new Set(),
    reconnecting: new Set(),
    error: new Set(),
    close: new Set(),
  };
  readonly #queues = new Set<EventQueue<StreamEvent>>();

  on<K extends keyof StreamListeners>(type: K, listener: Listener<K>): Unsubscribe {
    const listeners: Set<Listener<K>> = this.#listeners[type];
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  iterate(): AsyncIterator<StreamEvent, undefined> {
    const queue = new EventQueue<StreamEvent>(() => this.#queues.delete(queue));
    this.#queues.add(queue);
    return queue;
  }

  emit(event: StreamEvent): void {
    switch (event.type) {
      case 'error':
        this.#tell('warning', event);
        break;
      case 'ready':
        this.#tell('ready', event);
        break;
      case 'status':
        this.#tell('status', event);
        break;
      case 'delta':
        this.#tell('delta', event);
        break;
      case 'final':
        this.#tell('final', event);
        break;
      case 'reconnecting':
        this.#tell('reconnecting', event);
        break;
    }
    for (const queue of this.#queues) queue.push(event);
  }

  end(close: CloseInfo, error: SvcError | null): void {
    if (error !== null) this.#tell('error', error);
    this.#tell('close', close);
    for (const queue of this.#queues) queue.end(error);
  }

  #tell<K extends keyof StreamListeners>(type: K, value: StreamListeners[K]): void {
    const listeners: Set<Listener<K>> = this.#listeners[type];
    for (const listener of listeners) {
      try {
        listener(value);
      } catch (error) {
        // The listener's mistake is reported as its own, and the stream goes on.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
