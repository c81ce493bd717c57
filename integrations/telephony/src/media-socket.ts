import type { SampleEncoding } from '@svc-asr/sdk/audio';
import { WebSocket } from 'ws';
import type { CallEvent, CallLeg } from './call-leg.ts';

export interface LegFormat {
  readonly call: string;
  readonly leg: string;
  readonly protocol: string;
  readonly encoding: SampleEncoding;
  readonly sampleRateHz: number;
  /** Receives the leg's events, besides the bridge's own listener. */
  readonly onEvent?: (event: CallEvent) => void;
}

/** The part of the bridge that a protocol uses. */
export interface CallContext {
  openLeg(format: LegFormat): CallLeg;
  /** Query parameters of the address, such as `rate` and `channels`. */
  readonly query: URLSearchParams;
}

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
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  #protect(listener: () => void): void {
    try {
      listener();
    } catch {
      this.close(1011, 'internal_error');
    }
  }
}
