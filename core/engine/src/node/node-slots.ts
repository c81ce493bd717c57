import { randomUUID } from 'node:crypto';
import { status, type Metadata, type ServerDuplexStream } from '@grpc/grpc-js';
import type { Engine, EngineHealth } from '../engine.ts';
import { METADATA, type SlotRequest, type SlotResponse } from '../grpc/protocol.ts';
import { presentLoad } from '../grpc/load-report.ts';

export type HoldStream = ServerDuplexStream<SlotRequest, SlotResponse>;

interface Holder {
  readonly call: HoldStream;
  slots: number;
  calls: number;
}

/**
 * Shares a node's slots between its clients. Gateways hold one for each open stream, so that every stream can speak at
 * any time. Other clients get the rest, a slot for each call.
 */
export class EngineNodeSlots {
  readonly #engine: Engine;
  readonly #holders = new Map<string, Holder>();
  #otherCalls = 0;
  #isDraining = false;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /**
   * A holder with more calls than slots has just released one, and its call is about to end: a release can overtake it
   * on another connection. So only slots count.
   */
  health(): EngineHealth {
    let active = this.#otherCalls;
    for (const { slots } of this.#holders.values()) active += slots;
    return { ...this.#engine.health(), active };
  }

  /** The node's load, and how much of it is this holder's, both at the same moment. */
  report(holderId: string | null): Metadata {
    const metadata = presentLoad(this.health());
    const holder = this.#find(holderId);
    if (holder !== undefined) metadata.set(METADATA.held, String(holder.slots));
    return metadata;
  }

  /** Serves one gateway until its call ends, which a lost connection does too. */
  hold(call: HoldStream): void {
    const id = randomUUID();
    const holder: Holder = { call, slots: 0, calls: 0 };
    this.#holders.set(id, holder);
    const end = (): void => {
      if (this.#holders.delete(id)) call.end();
    };
    call.on('data', ({ release = false }: SlotRequest) => {
      if (release) holder.slots = Math.max(0, holder.slots - 1);
      else this.#grant(holder);
    });
    call.on('drain', () => call.resume());
    call.on('end', end);
    call.on('cancelled', end);
    call.on('error', end);
    const metadata = presentLoad(this.health());
    metadata.set(METADATA.holder, id);
    call.sendMetadata(metadata);
  }

  /** Takes a slot for one call. Returns the function that frees it, or null when none is free. */
  take(holderId: string | null): (() => void) | null {
    const holder = this.#find(holderId);
    if (holder !== undefined && holder.calls < holder.slots) {
      holder.calls += 1;
      return () => void (holder.calls -= 1);
    }
    if (!this.#hasRoom) return null;
    this.#otherCalls += 1;
    return () => void (this.#otherCalls -= 1);
  }

  /** Grants no more slots. */
  drain(): void {
    this.#isDraining = true;
  }

  close(): void {
    const details = 'This node is shutting down.';
    const metadata = presentLoad(this.health());
    const holders = [...this.#holders.values()];
    this.#holders.clear();
    for (const { call } of holders) {
      call.emit('error', { code: status.UNAVAILABLE, details, metadata });
    }
  }

  #find(holderId: string | null): Holder | undefined {
    return holderId === null ? undefined : this.#holders.get(holderId);
  }

  #grant(holder: Holder): void {
    const granted = this.#hasRoom && !this.#isDraining;
    if (granted) holder.slots += 1;
    // A gateway that does not read its answers may ask no more.
    if (!holder.call.write({ granted })) holder.call.pause();
  }

  get #hasRoom(): boolean {
    const { active, capacity } = this.health();
    return active < capacity;
  }
}
