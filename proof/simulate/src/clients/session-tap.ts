import type { ServerEvent } from '@svc-asr/protocol';
import type { SocketEnd } from '../../../../clients/sdk/src/stream/close-info.ts';
import type { Connect, SocketHandlers } from '../../../../clients/sdk/src/stream/socket.ts';
import { SessionWatch } from './session-watch.ts';
import type { Trace } from '../virtual/trace.ts';
import { scheduler } from '../virtual/scheduler.ts';

/**
 * The SDK gives up a silent connection 12 s after it asked for an answer, and later by four times the audio that it had
 * sent since the last question with an answer. It asks after two seconds at the latest.
 */
const SILENT_MS_MAX = 15_000;
const UNREAD_SHARE = 4;

/** One connection of a client, as the client sees it. */
export interface SessionTap {
  readonly host: string;
  /** Checks every event as it arrives. */
  readonly watch: SessionWatch;
  readonly credential: string;
  readonly startedAtMs: number;
  endedAtMs: number;
  /** Known from `ready` on. */
  sessionId: string | null;
  isOpen: boolean;
  end: SocketEnd | null;
  /** How long after the refusal of the client's last upgrade this one began, if its credential stayed valid. */
  readonly refusedForMs: number;
  isClosedByClient: boolean;
  isDroppedByClient: boolean;
}

/** Wraps the SDK's socket. Changes nothing, and checks everything. */
export function tapped(
  connect: Connect,
  input: {
    readonly taps: SessionTap[];
    readonly violations: string[];
    readonly trace: Trace;
    readonly name: string;
    readonly isSdk: boolean;
  },
): Connect {
  const { taps, trace, name, violations, isSdk } = input;
  let refusedAtMs: number | null = null;
  return (address, handlers) => {
    const host = new URL(address.url).hostname;
    const tap: SessionTap = {
      host,
      watch: new SessionWatch((violation) => {
        violations.push(`stream: ${violation}`);
        trace.add(`VIOLATION ${violation}`, { from: name });
      }),
      credential: address.protocols[1] ?? '',
      startedAtMs: scheduler.nowMs,
      endedAtMs: Infinity,
      sessionId: null,
      isOpen: false,
      end: null,
      refusedForMs: refusedAtMs === null ? 0 : scheduler.nowMs - refusedAtMs,
      isClosedByClient: false,
      isDroppedByClient: false,
    };
    taps.push(tap);
    /** Since when the client waits for any event after it sent audio or a command. */
    let waitingSinceMs: number | null = null;
    const questions = new Questions();
    trace.add('opens a stream', { from: name, to: host });
    const recording: SocketHandlers = {
      onOpen() {
        tap.isOpen = true;
        handlers.onOpen();
      },
      onOffline: () => handlers.onOffline(),
      onText(text) {
        const event: ServerEvent = JSON.parse(text);
        if (event.type === 'ready') tap.sessionId = event.session_id;
        if (event.type === 'config_ack') questions.onAnswer(event.id);
        waitingSinceMs = null;
        trace.add(describe(event), { from: host, to: name });
        tap.watch.onEvent(event);
        handlers.onText(text);
      },
      onEnd(end) {
        tap.end = end;
        tap.endedAtMs = scheduler.nowMs;
        const silentMs = waitingSinceMs === null ? 0 : scheduler.nowMs - waitingSinceMs;
        if (isSdk && silentMs > SILENT_MS_MAX + UNREAD_SHARE * questions.unreadMs) {
          violations.push(`sdk: keeps a connection that was silent for ${Math.round(silentMs)} ms`);
        }
        refusedAtMs = end.refusal?.status === 503 ? scheduler.nowMs : null;
        const why = end.refusal?.code ?? end.reason;
        trace.add(`stream ended with ${end.code} ${why}`, { from: host, to: name });
        tap.watch.onEnd(end);
        handlers.onEnd(end);
      },
    };
    const socket = connect(address, recording);
    return {
      send(data) {
        if (typeof data === 'string') trace.add(data.slice(0, 40), { from: name, to: host });
        tap.watch.onSent(data);
        if (isSdk && typeof data === 'string') questions.onSent(data, tap.watch.sentMs);
        // Settings alone don't make the SDK ask for an answer.
        const isConfig = typeof data === 'string' && data.startsWith('{"type":"config"');
        if (!isConfig) waitingSinceMs ??= scheduler.nowMs;
        socket.send(data);
      },
      close() {
        tap.isClosedByClient = true;
        trace.add('closes the stream', { from: name, to: host });
        socket.close();
      },
      drop() {
        tap.isDroppedByClient = true;
        trace.add('drops the connection', { from: name, to: host });
        socket.drop();
      },
      get bufferedBytes() {
        return socket.bufferedBytes;
      },
    };
  };
}

/** The messages by which the SDK asks for an answer, with the audio that was sent before each. */
class Questions {
  readonly #sentMs = new Map<unknown, number>();
  #answeredMs = 0;
  #askedMs = 0;

  /** Audio between the last question with an answer and the last question. */
  get unreadMs(): number {
    return this.#askedMs - this.#answeredMs;
  }

  onSent(text: string, sentMs: number): void {
    const { type, id }: { type: string; id?: unknown } = JSON.parse(text);
    if (type !== 'config' || id === undefined) return;
    this.#sentMs.set(id, sentMs);
    this.#askedMs = sentMs;
  }

  onAnswer(id: unknown): void {
    this.#answeredMs = this.#sentMs.get(id) ?? this.#answeredMs;
  }
}

function describe(event: ServerEvent): string {
  switch (event.type) {
    case 'delta':
      return `delta of utterance ${event.utterance} up to ${event.audio_ms} ms`;
    case 'final':
      return `final ${event.utterance} (${event.reason}) ${event.start_ms}-${event.end_ms} ms, billable ${event.billable_ms} ms`;
    case 'error':
      return `error ${event.code}`;
    case 'status':
      return `status ${event.code}`;
    case 'reset_ack':
      return `reset_ack, ${event.discarded_ms} ms discarded`;
    case 'ready':
    case 'config_ack':
    case 'speech_started':
    case 'speech_ended':
    case 'turn_eager':
    case 'turn_resumed':
      return event.type;
  }
}
