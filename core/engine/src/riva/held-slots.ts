import { status, type ClientDuplexStream, type Metadata, type StatusObject } from '@grpc/grpc-js';
import { METADATA, type SlotRequest, type SlotResponse } from '../grpc/protocol.ts';

export type HoldClientStream = ClientDuplexStream<SlotRequest, SlotResponse>;

const HOLDER = /^[\w-]{1,64}$/;

/** One slot of a node, for one stream. */
export class HeldSlot<Peer> {
  readonly peer: Peer;
  /** Resolves when the node is lost, and the slot with it. */
  readonly lost: Promise<void>;
  readonly #lost = Promise.withResolvers<void>();
  readonly #onRelease: () => void;
  #isHeld = true;

  constructor(peer: Peer, onRelease: () => void) {
    this.peer = peer;
    this.#onRelease = onRelease;
    this.lost = this.#lost.promise;
  }

  get isHeld(): boolean {
    return this.#isHeld;
  }

  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#onRelease();
  }

  lose(): void {
    this.#isHeld = false;
    this.#lost.resolve();
  }
}

/**
 * The slots of one node that this gateway holds. A node of ours grants them over one long call, and frees them all when
 * the call ends. Other servers grant none, so slots there are only counted here.
 */
export class HeldSlots<Peer> {
  readonly #peer: Peer;
  readonly #slots = new Set<HeldSlot<Peer>>();
  readonly #waiting: PromiseWithResolvers<HeldSlot<Peer> | null>[] = [];
  #call: HoldClientStream | null = null;
  #holder: string | null = null;
  #silentBeats = 0;

  constructor(peer: Peer) {
    this.#peer = peer;
  }

  /** Slots held, and those that the node was asked for. */
  get count(): number {
    return this.#slots.size + this.#waiting.length;
  }

  /** The name for calls that use these slots. Null if the server does not grant slots. */
  get holder(): string | null {
    return this.#holder;
  }

  /** Beats for which the node has answered no request for a slot. */
  get silentBeats(): number {
    return this.#silentBeats;
  }

  /**
   * Resolves with whether slots can be taken. Servers without the service, such as older nodes, end the call with
   * UNIMPLEMENTED.
   */
  begin(
    call: HoldClientStream,
    { onEnd, onInvalid }: { readonly onEnd: () => void; readonly onInvalid: () => void },
  ): Promise<boolean> {
    this.#call = call;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    call.on('metadata', (metadata: Metadata) => {
      const holder = String(metadata.get(METADATA.holder)[0] ?? '');
      if (!HOLDER.test(holder)) return onInvalid();
      this.#holder = holder;
      resolve(true);
    });
    call.on('data', ({ granted = false }: SlotResponse) => {
      if (this.#call !== call) return;
      if (!this.#answer(granted)) onInvalid();
    });
    // The status event reports it too.
    call.on('error', () => {});
    call.on('status', ({ code }: StatusObject) => {
      resolve(code === status.UNIMPLEMENTED);
      if (this.#call !== call) return;
      this.lose();
      if (code !== status.UNIMPLEMENTED) onEnd();
    });
    return promise;
  }

  /** Called periodically. */
  beat(): void {
    this.#silentBeats = this.#waiting.length === 0 ? 0 : this.#silentBeats + 1;
  }

  /** Resolves with null if the node has no free slot. */
  take(): Promise<HeldSlot<Peer> | null> {
    if (this.#call === null) return Promise.resolve(this.#add());
    const answer = Promise.withResolvers<HeldSlot<Peer> | null>();
    this.#waiting.push(answer);
    this.#call.write({});
    return answer.promise;
  }

  /** Gives up all slots. The node frees them too, if it can be reached. */
  lose(): void {
    const call = this.#call;
    this.#call = null;
    this.#holder = null;
    for (const { resolve } of this.#waiting.splice(0)) resolve(null);
    for (const slot of this.#slots) slot.lose();
    this.#slots.clear();
    call?.cancel();
  }

  /** False if there was no question. */
  #answer(granted: boolean): boolean {
    this.#silentBeats = 0;
    const asked = this.#waiting.shift();
    asked?.resolve(granted ? this.#add() : null);
    return asked !== undefined;
  }

  #add(): HeldSlot<Peer> {
    const slot: HeldSlot<Peer> = new HeldSlot(this.#peer, () => {
      this.#slots.delete(slot);
      this.#call?.write({ release: true });
    });
    this.#slots.add(slot);
    return slot;
  }
}
