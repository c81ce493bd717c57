import { connect } from '#socket';
import type { AsrSession, ErrorEvent, ReadyEvent, ServerEvent } from '@svc-asr/protocol';
import { AUDIO } from '@svc-asr/protocol/constants.ts';
import { isServerEvent } from '../answers.ts';
import { describeClose, type CloseInfo } from './close-info.ts';
import { SessionClock } from './session-clock.ts';
import type { Socket } from './socket.ts';
import type { TapeEntry } from './tape.ts';

/** The service gives up after 20 s and says so; this is for one that says nothing. */
const READY_MS_MAX = 30_000;
/** Sent bytes that do not move and nothing heard: the network is gone, though nobody said so. */
const STALL_MS_MAX = 20_000;
const GOODBYE_MS_MAX = 3_000;
const WATCH_MS = 500;

export interface ConnectionHandlers {
  onEvent(event: ServerEvent): void;
  onEnd(info: CloseInfo): void;
}

/** One session's socket: opens it, tells when it may be spoken to, and always tells why it ended. */
export class Connection {
  readonly session: AsrSession;
  readonly clock = new SessionClock();
  readonly startedAt = performance.now();
  readonly #handlers: ConnectionHandlers;
  readonly #socket: Socket;
  readonly #watch: ReturnType<typeof setInterval>;
  #opened = false;
  #ready: ReadyEvent | null = null;
  #readyAt = Infinity;
  #closingAt = Infinity;
  #fatal: ErrorEvent | null = null;
  #buffered = 0;
  #signAt = performance.now();

  constructor(session: AsrSession, handlers: ConnectionHandlers) {
    this.session = session;
    this.#handlers = handlers;
    this.#socket = connect(
      { url: session.websocket_url, protocols: session.websocket_protocols },
      {
        onOpen: () => (this.#opened = true),
        onText: (text) => this.#onText(text),
        onEnd: (end) => {
          clearInterval(this.#watch);
          const known = { sessionId: session.id, opened: this.#opened, fatal: this.#fatal };
          handlers.onEnd(describeClose(end, known));
        },
      },
    );
    this.#watch = setInterval(() => this.#check(), WATCH_MS);
  }

  get ready(): ReadyEvent | null {
    return this.#closingAt === Infinity ? this.#ready : null;
  }

  get readyForMs(): number {
    return Math.max(0, performance.now() - this.#readyAt);
  }

  /** Since the service was last heard, or last took some audio. */
  get silentMs(): number {
    return performance.now() - this.#signAt;
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedBytes;
  }

  /** How many samples the session still takes. */
  get samplesLeft(): number {
    const limitMs = this.#ready?.max_audio_ms ?? 0;
    return (limitMs * AUDIO.sampleRateHz) / 1000 - this.clock.heard;
  }

  configure(language: string): void {
    this.#socket.send(JSON.stringify({ type: 'config', language }));
  }

  send(entry: TapeEntry): void {
    if (this.bufferedBytes === 0) this.#signAt = performance.now();
    if (entry.kind !== 'audio') {
      this.#socket.send(JSON.stringify({ type: entry.kind }));
      return;
    }
    this.clock.hear(entry.at, entry.pcm.byteLength / AUDIO.bytesPerSample);
    this.#socket.send(entry.pcm);
  }

  close(): void {
    if (this.#closingAt !== Infinity) return;
    this.#closingAt = performance.now();
    this.#socket.close();
  }

  drop(): void {
    this.#socket.drop();
  }

  #onText(text: string): void {
    const event = parseEvent(text);
    if (event === null) return;
    this.#signAt = performance.now();
    if (event.type === 'ready') {
      this.#ready = event;
      this.#readyAt = performance.now();
    }
    if (event.type === 'error' && event.fatal) this.#fatal = event;
    this.#handlers.onEvent(event);
  }

  #check(): void {
    const now = performance.now();
    const buffered = this.bufferedBytes;
    if (buffered !== this.#buffered) this.#signAt = now;
    this.#buffered = buffered;
    const unready = this.#ready === null && now - this.startedAt > READY_MS_MAX;
    const stalled = buffered > 0 && this.silentMs > STALL_MS_MAX;
    const unanswered = now - this.#closingAt > GOODBYE_MS_MAX;
    if (unready || stalled || unanswered) this.drop();
  }
}

/** Null for what this version does not know: the protocol grows by addition. */
function parseEvent(text: string): ServerEvent | null {
  try {
    const event: unknown = JSON.parse(text);
    return isServerEvent(event) ? event : null;
  } catch {
    return null;
  }
}
