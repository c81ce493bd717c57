import type { EngineEvent, EngineFailure } from './engine.ts';

/** A reader this far behind gets only the newest delta, which contains the whole text anyway. */
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

  /** Adds the last event. Earlier events are still delivered; later ones are ignored. */
  fail(reason: EngineFailure): void {
    if (this.#ended) return;
    // A full queue must not lose this event.
    if (this.#held.length >= EVENTS_MAX) this.#held.pop();
    this.push({ type: 'error', reason });
    this.#ended = true;
  }

  /** Ends iteration at once and drops unread events. */
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
