import type {
  ConfigAckEvent,
  DeltaEvent,
  ErrorEvent,
  FinalEvent,
  ReadyEvent,
  SpeechEndedEvent,
  SpeechStartedEvent,
  StatusEvent,
  TurnEagerEvent,
  TurnResumedEvent,
} from '@svc-asr/protocol';
import type { SvcError } from '../errors.ts';
import type { CloseInfo } from './close-info.ts';
import type { SessionRequest } from './options.ts';
import { EventQueue } from './event-queue.ts';

/**
 * The stream moves to a new session, or is about to: with `close.reason` `connection_stalled` the service does not
 * answer, and the stream moves on after `waitMs` unless it does. `ready` follows in both cases. No audio is lost:
 * everything since the last final is kept and sent again.
 */
export interface ReconnectingEvent {
  readonly type: 'reconnecting';
  readonly why: 'failover' | 'rollover' | 'resume';
  /** How the last session ended. */
  readonly close: CloseInfo;
  /** How long until the next attempt. */
  readonly waitMs: number;
}

/** `getSession` failed. The stream waits `waitMs` and calls it again; audio stays buffered. */
export interface WaitingEvent {
  readonly type: 'waiting';
  /** Why a session is needed. */
  readonly why: SessionRequest['why'];
  /** What the stream waits for, such as `concurrency_limit_exceeded` or `request_rate_exceeded`. */
  readonly error: SvcError;
  readonly waitMs: number;
}

/** Yielded by `for await`. `error` events here are not fatal: fatal errors are thrown. */
export type StreamEvent =
  | ReadyEvent
  | ConfigAckEvent
  | StatusEvent
  | DeltaEvent
  | FinalEvent
  | SpeechStartedEvent
  | SpeechEndedEvent
  | TurnEagerEvent
  | TurnResumedEvent
  | ErrorEvent
  | ReconnectingEvent
  | WaitingEvent;

/** The events of `on()`. */
export interface StreamListeners {
  /** A session is ready, or a stalled one answers again. */
  ready: ReadyEvent;
  /** Only with `keyterms` or if the model ignores an option: `keyterms` says which are used, `ignored` names the option. */
  config_ack: ConfigAckEvent;
  status: StatusEvent;
  delta: DeltaEvent;
  final: FinalEvent;
  /** Only with `endpointing`: somebody starts to speak, or has stopped. */
  speech_started: SpeechStartedEvent;
  speech_ended: SpeechEndedEvent;
  /** Only with `endpointing.eagerMs`: the turn may be over, or goes on after all. A final with `eager` has the same text. */
  turn_eager: TurnEagerEvent;
  turn_resumed: TurnResumedEvent;
  /** A non-fatal error: the service ignored a message and continues. */
  warning: ErrorEvent;
  reconnecting: ReconnectingEvent;
  waiting: WaitingEvent;
  /** The stream failed; `close` follows. Without a listener nothing is thrown. */
  error: SvcError;
  close: CloseInfo;
}

type Listener<K extends keyof StreamListeners> = (value: StreamListeners[K]) => void;
export type Unsubscribe = () => void;

/** A method's parameter may be narrower, so this is a listener of any type. */
type AnyListener = { listener(value: unknown): void }['listener'];

export class StreamEvents {
  /** By type. Only `on()` adds listeners, so each has the type of its events. */
  readonly #listeners = new Map<keyof StreamListeners, Set<AnyListener>>();
  readonly #queues = new Set<EventQueue<StreamEvent>>();

  on<K extends keyof StreamListeners>(type: K, listener: Listener<K>): Unsubscribe {
    const listeners = this.#listeners.get(type) ?? new Set<AnyListener>();
    this.#listeners.set(type, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  iterate(): AsyncIterator<StreamEvent, undefined> {
    const queue = new EventQueue<StreamEvent>(() => this.#queues.delete(queue));
    this.#queues.add(queue);
    return queue;
  }

  emit(event: StreamEvent): void {
    this.#notify(event.type === 'error' ? 'warning' : event.type, event);
    for (const queue of this.#queues) queue.push(event);
  }

  end(close: CloseInfo, error: SvcError | null): void {
    if (error !== null) this.#notify('error', error);
    this.#notify('close', close);
    for (const queue of this.#queues) queue.end(error);
  }

  #notify(type: keyof StreamListeners, value: StreamListeners[keyof StreamListeners]): void {
    for (const listener of this.#listeners.get(type) ?? []) {
      try {
        listener(value);
      } catch (error) {
        // Report the listener's error as uncaught. The stream continues.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
