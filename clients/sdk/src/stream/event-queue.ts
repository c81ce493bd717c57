import type { SvcError } from '../errors.ts';

/** Unread events of one `for await` loop. A delta replaces the one before it, so slow readers use no memory. */
export class EventQueue<E extends { readonly type: string }> implements AsyncIterator<
  E,
  undefined
> {
  readonly #onStop: () => void;
  #events: E[] = [];
  #reader: ((result: IteratorResult<E, undefined>) => void) | null = null;
  #fail: ((error: SvcError) => void) | null = null;
  #end: { error: SvcError | null } | null = null;

  constructor(onStop: () => void) {
    this.#onStop = onStop;
  }

  push(event: E): void {
    if (this.#reader !== null) {
      this.#reader({ done: false, value: event });
      this.#reader = null;
      return;
    }
    if (event.type === 'delta' && this.#events.at(-1)?.type === 'delta') this.#events.pop();
    this.#events.push(event);
  }

  end(error: SvcError | null): void {
    this.#end = { error };
    if (this.#reader === null) return;
    if (error === null) this.#reader({ done: true, value: undefined });
    else this.#fail?.(error);
    this.#reader = null;
  }

  next(): Promise<IteratorResult<E, undefined>> {
    const event = this.#events.shift();
    if (event !== undefined) return Promise.resolve({ done: false, value: event });
    if (this.#end !== null) {
      const { error } = this.#end;
      this.#end = { error: null };
      return error === null
        ? Promise.resolve({ done: true, value: undefined })
        : Promise.reject(error);
    }
    return new Promise((resolve, reject) => {
      this.#reader = resolve;
      this.#fail = reject;
    });
  }

  return(): Promise<IteratorResult<E, undefined>> {
    this.#onStop();
    this.#events = [];
    this.end(null);
    return Promise.resolve({ done: true, value: undefined });
  }
}
