import type { Socket } from 'node:net';
import type { StreamSocket } from './stream-socket.ts';

export interface LivenessLimits {
  readonly pingIntervalMs: number;
  readonly connectionLostMs: number;
  /** How long a client may read nothing of what waits for it. */
  readonly unreadMs: number;
}

/** Pings a client, and watches whether it still sends and reads. */
export class ClientLiveness {
  readonly #socket: StreamSocket;
  readonly #wire: Socket;
  readonly #limits: LivenessLimits;
  #pingedAtMs: number;
  #receivedBytes = 0;
  #receivedAtMs: number;
  #unreadBytes = 0;
  #readAtMs: number;

  constructor(input: {
    readonly socket: StreamSocket;
    /** The underlying connection. Its byte counts show whether the client is alive. */
    readonly wire: Socket;
    readonly limits: LivenessLimits;
    readonly nowMs: number;
  }) {
    this.#socket = input.socket;
    this.#wire = input.wire;
    this.#limits = input.limits;
    this.#pingedAtMs = input.nowMs;
    this.#receivedAtMs = input.nowMs;
    this.#readAtMs = input.nowMs;
  }

  /** Called a few times a second. While we don't read from the client, it can't show that it is alive. */
  check(nowMs: number, isReading: boolean): 'alive' | 'slow_reader' | 'lost' {
    this.#observe(nowMs, isReading);
    if (nowMs - this.#readAtMs >= this.#limits.unreadMs) return 'slow_reader';
    if (nowMs - this.#receivedAtMs >= this.#limits.connectionLostMs) return 'lost';
    if (nowMs - this.#pingedAtMs >= this.#limits.pingIntervalMs) this.#ping(nowMs);
    return 'alive';
  }

  #observe(nowMs: number, isReading: boolean): void {
    const { bufferedAmount } = this.#socket;
    if (bufferedAmount === 0 || bufferedAmount < this.#unreadBytes) this.#readAtMs = nowMs;
    this.#unreadBytes = bufferedAmount;
    const { bytesRead } = this.#wire;
    if (isReading && bytesRead === this.#receivedBytes) return;
    this.#receivedBytes = bytesRead;
    this.#receivedAtMs = nowMs;
  }

  #ping(nowMs: number): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#pingedAtMs = nowMs;
    this.#socket.ping();
  }
}
