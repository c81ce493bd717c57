import { Duplex } from 'node:stream';
import { runIn, type VirtualProcess } from './process.ts';
import { scheduler, type VirtualTimer } from './scheduler.ts';
import type { Random } from './random.ts';

/** How many bytes the two kernels take before a writer must wait for its reader. */
const WINDOW_BYTES = 64 * 1024;
/** One read of a real socket returns up to this much. */
const PACKET_BYTES_MAX = 64 * 1024;
/** How often a write joins the packet before it, if that was written earlier or at the same time. */
const JOINED_SHARE = { earlier: 0.5, same: 0.99 };
/** Times are sums of fractions. */
const ROUNDING_MS = 1e-6;

/** The path between two sockets. */
export interface Path {
  readonly random: Random;
  /** Of each packet, in one direction. */
  delayMs(): number;
  /** Until then nothing moves, in either direction. Infinity: the path is gone, and nobody is told. */
  blockedUntilMs: number;
}

/** One end of a virtual TCP connection, with as much of `net.Socket` as HTTP and WebSocket code uses. */
export class VirtualSocket extends Duplex {
  readonly remoteAddress: string;
  readonly encrypted = false;
  readonly owner: VirtualProcess | undefined;
  readonly #path: Path;
  #peer: VirtualSocket | null = null;
  bytesRead = 0;
  bytesWritten = 0;
  #arrivesAtMs = 0;
  #inFlight = 0;
  /** The last one that is under way. */
  #packet: { readonly chunks: Buffer[]; readonly atMs: number; bytes: number } | null = null;
  readonly #onTheWay: { arrivesAtMs: number; deliver: (peer: VirtualSocket) => void }[] = [];
  readonly #onRead: (() => void)[] = [];
  #onRoom: (() => void) | null = null;
  /** Its application reads nothing for now. */
  holdsBack = false;
  #heldBack: (() => void)[] = [];
  #timeoutMs = 0;
  #activeAtMs = 0;
  #timeout: VirtualTimer | undefined;

  constructor(input: { owner: VirtualProcess | undefined; path: Path; remoteAddress: string }) {
    super({ allowHalfOpen: true, emitClose: true });
    this.owner = input.owner;
    this.#path = input.path;
    this.remoteAddress = input.remoteAddress;
  }

  /** Connects two ends. */
  static join(a: VirtualSocket, b: VirtualSocket): void {
    a.#peer = b;
    b.#peer = a;
  }

  override _read(): void {
    for (const onTaken of this.#onRead.splice(0)) onTaken();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    this.#active();
    this.bytesWritten += chunk.length;
    this.#inFlight += chunk.length;
    this.#pack(Buffer.from(chunk));
    if (this.#inFlight <= WINDOW_BYTES) done();
    else this.#onRoom = done;
  }

  override _final(done: (error?: Error) => void): void {
    this.#packet = null;
    this.#send((peer) => peer.#receiveEnd());
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clear(this.#timeout);
    this.#send((peer) => peer.destroy());
    done(error);
  }

  /** The machine or the path is gone: this end says nothing any more. */
  vanish(): void {
    this.#peer = null;
    clear(this.#timeout);
  }

  /** Reads everything that arrived while the application read nothing. */
  readAgain(): void {
    this.holdsBack = false;
    for (const receive of this.#heldBack.splice(0)) receive();
  }

  setTimeout(ms: number, onTimeout?: () => void): this {
    if (onTimeout !== undefined) this.once('timeout', onTimeout);
    this.#timeoutMs = ms;
    this.#active();
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  #active(): void {
    this.#activeAtMs = scheduler.nowMs;
    const dueMs = this.#activeAtMs + this.#timeoutMs;
    if (this.#timeoutMs > 0 && this.#timeout?.isLive === true && this.#timeout.atMs <= dueMs)
      return;
    clear(this.#timeout);
    if (this.#timeoutMs > 0) this.#wakeAfter(this.#timeoutMs);
  }

  /** One timer for many packets: it looks at the time of the last one. */
  #wakeAfter(ms: number): void {
    this.#timeout = scheduler.later(ms, () => {
      const leftMs = this.#activeAtMs + this.#timeoutMs - scheduler.nowMs;
      if (leftMs > ROUNDING_MS) return this.#wakeAfter(leftMs);
      return runIn(this.owner, () => this.emit('timeout'));
    });
  }

  /** What is written while a packet is under way may arrive together with it, as with TCP. */
  #pack(chunk: Buffer): void {
    const { random } = this.#path;
    const { nowMs: atMs } = scheduler;
    const last = this.#packet;
    const share = last?.atMs === atMs ? JOINED_SHARE.same : JOINED_SHARE.earlier;
    if (last !== null && last.bytes < PACKET_BYTES_MAX && random.chance(share)) {
      last.chunks.push(chunk);
      last.bytes += chunk.length;
      return;
    }
    const packet = { chunks: [chunk], atMs, bytes: chunk.length };
    this.#packet = packet;
    this.#send((peer) => {
      if (this.#packet === packet) this.#packet = null;
      peer.#receive(Buffer.concat(packet.chunks), () => this.#delivered(packet.bytes));
    });
  }

  /** Delivers to the peer in order, after the delay of the path. */
  #send(deliver: (peer: VirtualSocket) => void): void {
    const { nowMs } = scheduler;
    this.#arrivesAtMs = Math.max(this.#arrivesAtMs, nowMs + this.#path.delayMs());
    this.#onTheWay.push({ arrivesAtMs: this.#arrivesAtMs, deliver });
    scheduler.deliver(this.#peer?.owner, this.#arrivesAtMs - nowMs, () => this.#arrive());
  }

  /** Delivers everything that has arrived, or waits until the path is free. */
  #arrive(): void {
    const { blockedUntilMs } = this.#path;
    if (blockedUntilMs === Infinity) return;
    const peer = this.#peer;
    if (blockedUntilMs > scheduler.nowMs) {
      scheduler.deliver(peer?.owner, blockedUntilMs - scheduler.nowMs, () => this.#arrive());
      return;
    }
    for (let first = this.#onTheWay[0]; first !== undefined; first = this.#onTheWay[0]) {
      if (first.arrivesAtMs > scheduler.nowMs + ROUNDING_MS) return;
      this.#onTheWay.shift();
      if (peer !== null && !peer.destroyed) first.deliver(peer);
    }
  }

  #receive(bytes: Buffer, onTaken: () => void): void {
    if (this.holdsBack) {
      this.#heldBack.push(() => this.#receive(bytes, onTaken));
      return;
    }
    this.#active();
    this.bytesRead += bytes.length;
    if (this.push(bytes)) onTaken();
    else this.#onRead.push(onTaken);
  }

  #receiveEnd(): void {
    if (this.holdsBack) this.#heldBack.push(() => this.#receiveEnd());
    else if (!this.destroyed) this.push(null);
  }

  #delivered(bytes: number): void {
    this.#inFlight -= bytes;
    const onRoom = this.#onRoom;
    if (onRoom === null || this.#inFlight > WINDOW_BYTES) return;
    this.#onRoom = null;
    scheduler.deliver(this.owner, 0, onRoom);
  }
}

function clear(timer: VirtualTimer | undefined): void {
  if (timer !== undefined) timer.isLive = false;
}
