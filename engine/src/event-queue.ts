import type { EngineEvent, EngineFailure } from './engine.ts';

/** A reader this far behind gets the newest delta instead of every one: each holds the whole text anyway. */
const EVENTS_HELD = 64;
/** Finals cannot be merged. A reader that leaves this many unread has stopped reading. */
const EVENTS_MAX = 1024;

/** The ordered events of one stream: pushed by the engine, read by one reader, bounded. */
export class EventQueue implements AsyncIterable<EngineEvent> {
  #held: EngineEvent[] = [];
  #waiting: ((result: IteratorResult<EngineEvent>) => void) | undefined;
  #ended = false;

  push(event: EngineEvent): 'taken' | 'overflow' {
    if (this.#ended) return 'taken';
    if (this.#waiting !== undefined) {
      const deliver = this.#waiting;
      this.#waiting = undefined;
      deliver({ value: event, done: false });
      return 'taken';
    }
    if (this.#held.length >= EVENTS_HELD && event.type === 'delta') {
      if (this.#held.at(-1)?.type === 'delta') this.#held.pop();
    }
    if (this.#held.length >= EVENTS_MAX) return 'overflow';
    this.#held.push(event);
    return 'taken';
  }

  /** The last event: what was recognised before it is still delivered, nothing comes after it. */
  fail(reason: EngineFailure): void {
    if (this.#ended) return;
    // The one event that must not be lost to a full queue.
    if (this.#held.length >= EVENTS_MAX) this.#held.pop();
    this.push({ type: 'error', reason });
    this.#ended = true;
  }

  /** Ends the reader at once; what it has not read is dropped. */
  end(): void {
    this.#ended = true;
    this.#held = [];
    this.#waiting?.({ value: undefined, done: true });
    this.#waiting = undefined;
  }

  [Symbol.asyncIterator](): AsyncIterator<EngineEvent> {
    return {
      next: () => this.#next(),
      return: () => Promise.resolve({ value: undefined, done: true }),
    };
  }

  #next(): Promise<IteratorResult<EngineEvent>> {
    const event = this.#held.shift();
    if (event !== undefined) return Promise.resolve({ value: event, done: false });
    if (this.#ended) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }
}
