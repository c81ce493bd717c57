import type { AsrSession, ErrorEvent, ReadyEvent, ServerEvent } from '@svc-asr/protocol';
import type { Config } from './options.ts';
import { SAMPLES_PER_MS } from '@svc-asr/protocol/constants.ts';
import { isServerEvent } from '../response-guards.ts';
import { describeClose, isUnused, type CloseInfo } from './close-info.ts';
import { Liveness, type Verdict } from './liveness.ts';
import { SessionClock } from './session-clock.ts';
import type { Connect, Socket } from './socket.ts';
import { samplesIn, type BufferEntry } from './replay-buffer.ts';
import { CHECK_INTERVAL_MS, CLOSE_MS_MAX, READY_MS_MAX, STALL_MS_MAX } from './limits.ts';

export interface ConnectionHandlers {
  /** How long the socket may take to open. */
  readonly openMsMax: number;
  onEvent(event: ServerEvent): void;
  /** The service does not answer. If that lasts, the connection ends. */
  onStall(): void;
  /** It answers again. */
  onRecovery(ready: ReadyEvent): void;
  /** `isUnused`: the credential was not spent, so the session can still be opened. */
  onEnd(info: CloseInfo, isUnused: boolean): void;
}

/** One session's socket. Tracks readiness and activity, enforces the time limits, and explains every end. */
export class Connection {
  readonly session: AsrSession;
  readonly clock = new SessionClock();
  readonly startedAt = performance.now();
  readonly #handlers: ConnectionHandlers;
  readonly #socket: Socket;
  readonly #checkTimer: ReturnType<typeof setInterval>;
  #openMs: number | null = null;
  /** The service sent an event other than a refusal, so the credential is spent. */
  #hasEvents = false;
  #ready: ReadyEvent | null = null;
  #liveness: Liveness | null = null;
  #questions = 0;
  #keyterms: Config['keyterms'];
  #readyAt = Infinity;
  #closingAt = Infinity;
  #fatal: ErrorEvent | null = null;
  #buffered = 0;
  #activeAt = performance.now();

  constructor(session: AsrSession, connect: Connect, handlers: ConnectionHandlers) {
    this.session = session;
    this.#handlers = handlers;
    this.#socket = connect(
      { url: session.websocket_url, protocols: session.websocket_protocols },
      {
        onOpen: () => {
          this.#activeAt = performance.now();
          this.#openMs = this.#activeAt - this.startedAt;
        },
        onText: (text) => this.#onText(text),
        onOffline: () => this.#follow(this.#liveness?.onStall() ?? null),
        onEnd: (end) => {
          clearInterval(this.#checkTimer);
          const known = {
            sessionId: session.id,
            url: session.websocket_url,
            opened: this.#openMs !== null,
            fatal: this.#fatal,
          };
          handlers.onEnd(describeClose(end, known), !this.#hasEvents && isUnused(end, known));
        },
      },
    );
    this.#checkTimer = setInterval(() => this.#check(), CHECK_INTERVAL_MS);
  }

  /** How long the handshake took. Null: the socket has not opened. */
  get openMs(): number | null {
    return this.#openMs;
  }

  get ready(): ReadyEvent | null {
    return this.#closingAt === Infinity ? this.#ready : null;
  }

  get readyForMs(): number {
    return Math.max(0, performance.now() - this.#readyAt);
  }

  /** Time since the service last sent an event or took audio. */
  get silentMs(): number {
    return performance.now() - this.#activeAt;
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedBytes;
  }

  /** How many more samples the session accepts. */
  get samplesLeft(): number {
    const limitMs = this.#ready?.max_audio_ms ?? 0;
    return limitMs * SAMPLES_PER_MS - this.clock.sentSamples;
  }

  configure(config: Config): void {
    this.#socket.send(JSON.stringify({ type: 'config', ...config }));
  }

  /** Tells the service, unless it knows. */
  setKeyterms(keyterms: Config['keyterms']): void {
    if (keyterms !== this.#keyterms) this.configure({ keyterms });
    this.#keyterms = keyterms;
  }

  send(entry: BufferEntry): void {
    if (this.bufferedBytes === 0) this.#activeAt = performance.now();
    const samples = samplesIn(entry);
    this.#liveness?.onSent(samples / SAMPLES_PER_MS);
    if (entry.kind === 'audio') {
      this.setKeyterms(entry.keyterms);
      this.clock.advance(entry.at, samples);
      this.#socket.send(entry.pcm);
    } else {
      this.#socket.send(JSON.stringify({ type: entry.kind }));
    }
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
    const now = performance.now();
    const isAnswer = event.type === 'config_ack' && event.id === this.#questions;
    if (!isAnswer) this.#activeAt = now;
    if (event.type === 'ready') {
      this.#ready = event;
      this.#readyAt = now;
      this.#liveness = new Liveness(now, this.#openMs ?? 0);
    }
    const isRecovered = this.#liveness?.onEvent(now, isAnswer) === 'recovered';
    if (isRecovered && this.#ready !== null) this.#handlers.onRecovery(this.#ready);
    if (event.type === 'error' && event.fatal) this.#fatal = event;
    else this.#hasEvents = true;
    this.#handlers.onEvent(event);
  }

  #check(): void {
    const now = performance.now();
    const buffered = this.bufferedBytes;
    if (buffered !== this.#buffered) this.#activeAt = now;
    this.#buffered = buffered;
    const readyMsMax = this.#openMs === null ? this.#handlers.openMsMax : READY_MS_MAX;
    const unready = this.#ready === null && now - this.startedAt > readyMsMax;
    const stalled = buffered > 0 && this.silentMs > STALL_MS_MAX;
    const unanswered = now - this.#closingAt > CLOSE_MS_MAX;
    if (unready || stalled || unanswered) this.drop();
    else if (this.ready !== null) this.#follow(this.#liveness?.check(now) ?? null);
  }

  #follow(verdict: Verdict): void {
    if (this.ready === null) return;
    if (verdict === 'stalled') this.#handlers.onStall();
    if (verdict === 'lost') this.drop();
    if (verdict === 'ask') {
      // A config without settings changes nothing, and the service answers it.
      this.#questions += 1;
      this.configure({ id: this.#questions });
    }
  }
}

/** Returns null for event types this version doesn't know. Inside v1 the service only adds. */
function parseEvent(text: string): ServerEvent | null {
  try {
    const event: unknown = JSON.parse(text);
    return isServerEvent(event) ? event : null;
  } catch {
    return null;
  }
}
