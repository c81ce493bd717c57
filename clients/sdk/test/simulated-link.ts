import { EXAMPLE_SESSION } from '@svc-asr/protocol/documents/examples.ts';
import type { AsrSession } from '../src/index.ts';
import type { Connect, SocketHandlers } from '../src/stream/socket.ts';

const READY = { type: 'ready', session_id: EXAMPLE_SESSION.id, max_audio_ms: 300_000 };

/** A network and a service behind it, in virtual time. Bytes are never lost, only late: TCP repeats them. */
export class SimulatedLink {
  /** Time for one direction. */
  delayMs: number;
  /** How much audio the service reads per second. */
  readonly readsMsPerSecond: number;
  /** Nothing arrives before this time, in both directions. */
  #stalledUntil = -Infinity;
  connectionsOpened = 0;
  /** What the service read on the newest connection. */
  receivedAudioMs = 0;
  questions = 0;

  constructor(options: { delayMs: number; readsMsPerSecond?: number }) {
    this.delayMs = options.delayMs;
    this.readsMsPerSecond = options.readsMsPerSecond ?? Infinity;
  }

  readonly getSession = (): Promise<AsrSession> =>
    Promise.resolve({ ...EXAMPLE_SESSION, id: String(this.connectionsOpened) });

  stall(ms: number): void {
    this.#stalledUntil = performance.now() + ms;
  }

  /** Ends the stall for new bytes. Those that were sent before it arrive at its planned end. */
  heal(): void {
    this.#stalledUntil = -Infinity;
  }

  readonly connect: Connect = (_, handlers) => {
    this.connectionsOpened += 1;
    this.receivedAudioMs = 0;
    return new LinkConnection(this, handlers);
  };

  carry(deliver: () => void): void {
    const heldMs = Math.max(0, this.#stalledUntil - performance.now());
    if (heldMs < Infinity) setTimeout(deliver, heldMs + this.delayMs);
  }
}

class LinkConnection {
  readonly #link: SimulatedLink;
  readonly #handlers: SocketHandlers;
  readonly bufferedBytes = 0;
  /** When the service has read everything that arrived. */
  #readAt = 0;
  #isOver = false;

  constructor(link: SimulatedLink, handlers: SocketHandlers) {
    this.#link = link;
    this.#handlers = handlers;
    // TCP, TLS and the upgrade: three round trips.
    setTimeout(() => {
      if (this.#isOver) return;
      handlers.onOpen();
      this.#reply({ ...READY, idle_timeout_ms: 60_000 });
    }, 6 * link.delayMs);
  }

  send(data: string | Uint8Array): void {
    this.#link.carry(() => this.#receive(data));
  }

  close(): void {
    this.#link.carry(() => this.#end(1000, 'completed'));
  }

  drop(): void {
    this.#end(1006, '');
  }

  #receive(data: string | Uint8Array): void {
    const audioMs = typeof data === 'string' ? 0 : data.byteLength / 32;
    const startsAt = Math.max(performance.now(), this.#readAt);
    this.#readAt = startsAt + (audioMs * 1_000) / this.#link.readsMsPerSecond;
    setTimeout(() => this.#read(data, audioMs), this.#readAt - performance.now());
  }

  #read(data: string | Uint8Array, audioMs: number): void {
    if (!this.#isOver) this.#link.receivedAudioMs += audioMs;
    if (typeof data !== 'string') return;
    const message: { type: string; id?: number } = JSON.parse(data);
    if (message.type !== 'config') return;
    this.#link.questions += 1;
    this.#reply({ type: 'config_ack', id: message.id, ignored: [] });
  }

  #reply(event: object): void {
    this.#link.carry(() => {
      if (!this.#isOver) this.#handlers.onText(JSON.stringify(event));
    });
  }

  #end(code: number, reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#handlers.onEnd({ code, reason, refusal: null });
  }
}
