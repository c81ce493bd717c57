import type { Socket } from 'node:net';

/** A gateway calls as soon as it is connected. `sockets`: more than all gateways of an installation open at once. */
export const UNPROVEN = { sockets: 256, ms: 10_000 } as const;

/**
 * The connections on which no gateway has made a call yet. A stranger without a certificate can open as many as the
 * kernel allows, so they are few and short: above the limit, the address that has most loses its oldest.
 */
export class UnprovenConnections {
  readonly #sockets = new Map<string, Socket>();
  readonly #withinMs: number;

  constructor(withinMs: number = UNPROVEN.ms) {
    this.#withinMs = withinMs;
  }

  add(socket: Socket): void {
    const key = peerOf(socket);
    const isUnproven = (): boolean => this.#sockets.get(key) === socket;
    const timer = setTimeout(() => isUnproven() && socket.destroy(), this.#withinMs).unref();
    socket.once('close', () => {
      clearTimeout(timer);
      if (isUnproven()) this.#sockets.delete(key);
    });
    this.#sockets.set(key, socket);
    if (this.#sockets.size > UNPROVEN.sockets) this.#drop(this.#oldestOfMost());
  }

  /** A gateway has made a call on this connection, named as gRPC names it: by address and port. */
  prove(peer: string): void {
    this.#sockets.delete(peer);
  }

  close(): void {
    for (const socket of this.#sockets.values()) socket.destroy();
  }

  /** Forgets it at once, because its close event comes after all connections that have arrived together. */
  #drop(socket: Socket): void {
    this.#sockets.delete(peerOf(socket));
    socket.destroy();
  }

  #oldestOfMost(): Socket {
    const byAddress = Map.groupBy(
      this.#sockets.values(),
      ({ remoteAddress = '' }) => remoteAddress,
    );
    const [most = []] = [...byAddress.values()].toSorted((a, b) => b.length - a.length);
    const [oldest] = most;
    if (oldest === undefined) throw new Error('There is no connection.');
    return oldest;
  }
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress}:${remotePort}`;
}
