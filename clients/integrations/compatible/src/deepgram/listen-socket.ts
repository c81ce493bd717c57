import type { KeytermsInForce } from '@svc-asr/protocol';
import type { SvcStream } from '@svc-asr/sdk/stream';
import type { ClientSocket } from '@svc-asr/runtime/client-socket.ts';
import { endStream } from '../end-stream.ts';
import { toRefusal, type Refusal } from '../refusal.ts';
import { readCommand, type Command } from './commands.ts';
import type { ListenInput } from './listen-input.ts';
import type { ListenStream } from './listen-stream.ts';
import type { ListenMessage, Thresholds } from './messages.ts';

/** Audio that waits for the service. More is read from the client after it has been sent. */
export const WAITING_BYTES_MAX = 320_000;
const TEXT_LENGTH_MAX = 16 * 1024;
const INVALID_MAX = 10;
/** Clients send KeepAlive every few seconds, and Finalize once in a turn. */
const TEXTS_PER_SECOND_MAX = 100;
const CLOSE_REASON_BYTES_MAX = 123;

const CLOSE = { done: 1000, refused: 1008, failed: 1011, restart: 1012, later: 1013 } as const;
const INVALID =
  'A text message was not KeepAlive, Finalize, ForceEndTurn, CloseStream or Configure and was ignored. Fix the client.';
const TOO_MANY =
  'Too many text messages in a second. Send Finalize once in a turn, then reconnect.';
const IDLE = 'No audio and no KeepAlive for too long. Open a new connection when someone speaks.';
const RESTART = 'This server is restarting. Open a new connection now.';
const NO_KEYTERMS = {
  code: 'CONFIGURE_KEYTERMS_NOT_SUPPORTED',
  description: 'This model ignores keyterms. Send Configure without them.',
};
const INVALID_KEYTERMS = {
  code: 'CONFIGURE_KEYTERMS_INVALID',
  description:
    'None of the keyterms can be used. Write them with the letters of the language, and numbers as words.',
};
const FIXED = {
  code: 'CONFIGURE_NOT_SUPPORTED',
  description: 'Only keyterms can change. Open a new connection with other settings.',
};

export interface ListenParts {
  readonly socket: ClientSocket;
  readonly send: (message: ListenMessage) => void;
  readonly stream: SvcStream;
  readonly listen: ListenStream;
  readonly openInput: (onFailure: (error: unknown) => void) => ListenInput;
  readonly requestId: string;
  /** Those of `/v2/listen`. */
  readonly thresholds: Thresholds | null;
  readonly idleMs: number;
  /** Aborted when the client has hung up and when the program stops. */
  readonly signal: AbortSignal;
}

/** One Deepgram client: its audio and commands in, messages out, and an end with a reason. */
export class ListenSocket {
  readonly #parts: ListenParts;
  readonly #input: ListenInput;
  /** No more input is taken. */
  #isEnding = false;
  #waitingBytes = 0;
  #invalid = 0;
  #window = { startMs: 0, texts: 0 };
  /** The keyterms in force. Null without any. */
  #keyterms: KeytermsInForce | null = null;
  /** `Configure` messages with keyterms that the service has not answered. */
  #unanswered = 0;

  constructor(parts: ListenParts) {
    const { socket, stream, signal } = parts;
    this.#parts = parts;
    this.#input = parts.openInput((error) => this.#failWith(error));
    socket.onSilence(parts.idleMs, () => this.#fail(CLOSE.failed, 'idle_timeout', IDLE));
    socket.onBinary((bytes) => {
      if (this.#isEnding) return;
      // Clients from before CloseStream end a stream with an empty frame.
      if (bytes.byteLength === 0) void this.#finish();
      else void this.#onAudio(bytes);
    });
    socket.onText((text) => {
      if (!this.#isEnding) this.#onText(text);
    });
    const restart = (): void => this.#fail(CLOSE.restart, 'service_restart', RESTART);
    signal.addEventListener('abort', restart, { once: true });
    stream.on('config_ack', ({ keyterms }) => {
      if (keyterms !== undefined) this.#onKeyterms(keyterms);
    });
    // Only a failure ends the stream before the client does.
    stream.on('close', ({ reason, message }) => {
      if (!this.#isEnding) this.#fail(CLOSE.failed, reason, message);
    });
  }

  /** Resolves when the socket and its stream have closed. */
  async serve(): Promise<void> {
    await this.#parts.socket.closed;
    await endStream(this.#parts.stream);
  }

  #onText(text: string): void {
    const { send, listen } = this.#parts;
    const nowMs = performance.now();
    if (nowMs - this.#window.startMs > 1_000) this.#window = { startMs: nowMs, texts: 0 };
    this.#window.texts += 1;
    if (this.#window.texts > TEXTS_PER_SECOND_MAX) {
      return this.#fail(CLOSE.refused, 'too_many_messages', TOO_MANY);
    }
    const command = readCommand(text.length > TEXT_LENGTH_MAX ? '' : text);
    switch (command.type) {
      case 'KeepAlive':
        return;
      case 'Finalize':
      case 'ForceEndTurn':
        return listen.finalize();
      case 'CloseStream':
        return void this.#finish();
      case 'Configure':
        return this.#configure(command);
      case 'invalid':
        this.#invalid += 1;
        if (this.#invalid <= INVALID_MAX) return send(problem('SchemaError', INVALID));
        return this.#fail(CLOSE.refused, 'too_many_errors', INVALID);
    }
  }

  #configure({ keyterms, isFixed }: Extract<Command, { type: 'Configure' }>): void {
    const { send, stream, requestId, thresholds } = this.#parts;
    if (thresholds !== null && isFixed) return send(rejected(requestId, FIXED));
    if (keyterms === null) return send(this.#configured());
    this.#unanswered += 1;
    stream.setKeyterms(keyterms);
  }

  /** While a stream has no session, the next one answers all lists at once. */
  #onKeyterms(keyterms: KeytermsInForce): void {
    this.#keyterms = keyterms;
    for (; this.#unanswered > 0; this.#unanswered -= 1) this.#parts.send(this.#configured());
  }

  /** Some refused terms are no failure: the message says which are in force. */
  #configured(): ListenMessage {
    const { requestId, thresholds } = this.#parts;
    const { taken = null, refused: [first] = [] } = this.#keyterms ?? {};
    if (taken?.length === 0 && first !== undefined) {
      return rejected(requestId, first.reason === 'not_supported' ? NO_KEYTERMS : INVALID_KEYTERMS);
    }
    return {
      type: 'ConfigureSuccess',
      request_id: requestId,
      ...(thresholds !== null && { thresholds, keyterms: [] }),
      ...(taken !== null && { keyterms: taken }),
    };
  }

  async #onAudio(bytes: Buffer): Promise<void> {
    const { socket, listen } = this.#parts;
    listen.onReceived(bytes);
    this.#waitingBytes += bytes.byteLength;
    if (this.#waitingBytes > WAITING_BYTES_MAX) socket.pause();
    await this.#input.push(bytes);
    this.#waitingBytes -= bytes.byteLength;
    if (this.#waitingBytes <= WAITING_BYTES_MAX) socket.resume();
  }

  async #finish(): Promise<void> {
    const { socket, listen } = this.#parts;
    this.#isEnding = true;
    try {
      await this.#input.end();
      await listen.finish();
      // JavaScript's SDK opens a new connection after any other code.
      socket.close(CLOSE.done, '');
    } catch (error) {
      this.#failWith(error);
    }
  }

  #failWith(error: unknown): void {
    const { status, code, message } = toRefusal(error);
    this.#fail(status < 500 ? CLOSE.refused : CLOSE.failed, code, message);
  }

  #fail(code: number, reason: string, message: string): void {
    const { socket, send, stream } = this.#parts;
    this.#isEnding = true;
    send(problem(reason, message));
    socket.close(code, closeReason(`${reason}: ${message}`));
    void endStream(stream);
  }
}

/** Refuses a client that can't see the status of a refused handshake. */
export function refuseListenSocket(socket: ClientSocket, refusal: Refusal): void {
  const { code, message, retryAfterMs } = refusal;
  socket.send(problem(code, message));
  const canRetry = retryAfterMs !== null;
  socket.close(canRetry ? CLOSE.later : CLOSE.refused, closeReason(`${code}: ${message}`));
}

function problem(variant: string, description: string): ListenMessage {
  return { type: 'Error', variant, code: variant, description, message: description };
}

function rejected(
  request_id: string,
  { code, description }: { readonly code: string; readonly description: string },
): ListenMessage {
  return { type: 'ConfigureFailure', request_id, code, error_code: code, description };
}

/** Our messages are ASCII, so a cut doesn't split a character. */
function closeReason(text: string): string {
  return text.slice(0, CLOSE_REASON_BYTES_MAX);
}
