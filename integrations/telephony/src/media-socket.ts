import { WebSocket } from 'ws';
import type { Call } from './call.ts';

/** Why a call is refused. Metrics count it by code. */
export type RefusalCode =
  | 'not_found'
  | 'wrong_signature'
  | 'not_allowed'
  | 'unsupported_audio'
  | 'unsupported_language'
  | 'busy'
  | 'draining'
  | 'no_start';

export interface CallStart {
  readonly call: string;
  /** As the telephone system names it. Null: the bridge's own. */
  readonly language: string | null;
  readonly parameters: Readonly<Record<string, string>>;
}

/** The part of the bridge that a protocol uses. */
export interface CallContext {
  /** Null if the language is not supported: the call is refused, never transcribed in another language. */
  startCall(start: CallStart): Call | null;
  /** Reports a refused call to the operator. */
  refuse(code: RefusalCode, message: string): void;
  /** Query parameters of the address, such as `rate` and `channels`. */
  readonly query: URLSearchParams;
}

/** A telephone system that is this far behind no longer reads. */
const UNSENT_BYTES_MAX = 1024 * 1024;

/** A WebSocket of a telephone system. Errors end it and no other call, and no frame is larger than its limit. */
export class MediaSocket {
  readonly #socket: WebSocket;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    // Without a listener one caller's broken frame would end every call.
    socket.on('error', () => socket.terminate());
  }

  onText(listener: (message: string) => void): void {
    this.#socket.on('message', (data: Buffer, isBinary) => {
      if (!isBinary) this.#protect(() => listener(data.toString('utf8')));
    });
  }

  onAudio(listener: (audio: Buffer) => void): void {
    this.#socket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.#protect(() => listener(data));
    });
  }

  onClose(listener: () => void): void {
    this.#socket.on('close', listener);
  }

  send(message: object): void {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    if (this.#socket.bufferedAmount > UNSENT_BYTES_MAX) return this.#socket.terminate();
    this.#socket.send(JSON.stringify(message));
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  #protect(listener: () => void): void {
    // Frames that arrive after a refusal belong to no call.
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    try {
      listener();
    } catch {
      this.close(1011, 'internal_error');
    }
  }
}
