import { EXAMPLE_SESSION } from '@svc-asr/protocol/documents/examples.ts';
import { SvcError, type AsrSession } from '../src/index.ts';
import type { Connect, SocketHandlers } from '../src/stream/socket.ts';

/** How one call of `getSession` ends. */
export type SessionScript =
  | { readonly is: 'granted'; readonly afterMs: number }
  | { readonly is: 'refused'; readonly retryAfterMs: number }
  | { readonly is: 'broken' }
  | { readonly is: 'hanging' };

/** The steps of one connection. Between steps it neither reads nor answers. */
export type ConnectionScript =
  | { readonly is: 'unopened' }
  | { readonly is: 'refused'; readonly status: number; readonly retryAfterMs: number }
  | { readonly is: 'unready' }
  | { readonly is: 'silent' }
  | { readonly is: 'stalled' }
  | {
      readonly is: 'closing';
      readonly afterMs: number;
      readonly code: number;
      readonly reason?: string;
    }
  | { readonly is: 'answering'; readonly afterMs: number };

const READY = {
  type: 'ready',
  session_id: EXAMPLE_SESSION.id,
  max_audio_ms: 300_000,
  idle_timeout_ms: 60_000,
};

/** An in-process service with virtual time. Its scripts are used in turn and repeat after the last. */
export class ScriptedService {
  readonly #sessions: readonly SessionScript[];
  readonly #connections: readonly ConnectionScript[];
  #last: ScriptedConnection | null = null;
  sessionsAsked = 0;
  connectionsOpened = 0;

  constructor(sessions: readonly SessionScript[], connections: readonly ConnectionScript[]) {
    this.#sessions = sessions;
    this.#connections = connections;
  }

  readonly getSession = (): Promise<AsrSession> => {
    const script = this.#sessions[this.sessionsAsked++ % this.#sessions.length];
    return new Promise((resolve, reject) => {
      if (script?.is === 'granted') setTimeout(() => resolve(EXAMPLE_SESSION), script.afterMs);
      if (script?.is === 'refused') reject(refusal(429, script.retryAfterMs));
      if (script?.is === 'broken') reject(new TypeError('fetch failed'));
    });
  };

  readonly connect: Connect = (_, handlers) => {
    const script = this.#connections[this.connectionsOpened++ % this.#connections.length];
    this.#last = new ScriptedConnection(script ?? { is: 'unopened' }, handlers);
    return this.#last;
  };

  /** Closes the newest connection from the service's side. */
  endLast(code: number, reason: string): void {
    this.#last?.end(code, reason);
  }
}

function refusal(status: number, retryAfterMs: number): SvcError {
  const code = status === 429 ? 'request_rate_exceeded' : 'service_restarting';
  return new SvcError({ code, message: 'Later.', retryable: true, status, retryAfterMs });
}

class ScriptedConnection {
  readonly #script: ConnectionScript;
  readonly #handlers: SocketHandlers;
  #ended = false;
  #utterance = 0;
  bufferedBytes = 0;

  constructor(script: ConnectionScript, handlers: SocketHandlers) {
    this.#script = script;
    this.#handlers = handlers;
    setTimeout(() => this.#open(), 1);
  }

  send(data: string | Uint8Array): void {
    if (this.#script.is === 'stalled') this.bufferedBytes += data.length;
    if (typeof data !== 'string' || this.#script.is !== 'answering') return;
    if (!data.includes('flush')) return;
    setTimeout(() => this.#final(), this.#script.afterMs);
  }

  close(): void {
    if (this.#script.is === 'answering') this.end(1000, 'completed');
  }

  drop(): void {
    this.end(1006, '');
  }

  #open(): void {
    const script = this.#script;
    if (this.#ended || script.is === 'unopened') return;
    if (script.is === 'refused') {
      this.#ended = true;
      const error = refusal(script.status, script.retryAfterMs);
      this.#handlers.onEnd({ code: 1006, reason: '', refusal: error });
      return;
    }
    this.#handlers.onOpen();
    if (script.is === 'unready') return;
    this.#handlers.onText(JSON.stringify(READY));
    if (script.is === 'closing')
      setTimeout(() => this.end(script.code, script.reason ?? ''), script.afterMs);
  }

  #final(): void {
    if (this.#ended) return;
    const final = {
      type: 'final',
      text: 'nĩ wega',
      utterance: this.#utterance++,
      reason: 'flush',
      start_ms: 0,
      end_ms: 1_000,
      words: [],
      audio_ms: 1_000,
      total_audio_ms: 1_000,
      billable_ms: 1_000,
    };
    this.#handlers.onText(JSON.stringify(final));
  }

  end(code: number, reason: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#handlers.onEnd({ code, reason, refusal: null });
  }
}
