import type { SvcError } from '../errors.ts';

interface Reader<E> {
  readonly resolve: (result: IteratorResult<E, undefined>) => void;
  readonly reject: (error: SvcError) => void;
}

/** Unread events of one `for await` loop. A delta replaces the one before it, so slow readers use no memory. */
export class EventQueue<E extends { readonly type: string }> implements AsyncIterator<
  E,
  undefined
> {
  readonly #onStop: () => void;
  #events: E[] = [];
  #reader: Reader<E> | null = null;
  /** The error that the loop throws, or null for none. Undefined until the end. */
  #end: SvcError | null | undefined;

  constructor(onStop: () => void) {
    this.#onStop = onStop;
  }

  push(event: E): void {
    if (event.type === 'delta' && this.#events.at(-1)?.type === 'delta') this.#events.pop();
    this.#events.push(event);
    this.#deliver();
  }

  end(error: SvcError | null): void {
    this.#end = error;
    this.#deliver();
  }

  next(): Promise<IteratorResult<E, undefined>> {
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject };
      this.#deliver();
    });
  }

  return(): Promise<IteratorResult<E, undefined>> {
    this.#onStop();
    this.#events = [];
    this.end(null);
    return this.next();
  }

  /** Settles the waiting read with the oldest event, or with the end. */
  #deliver(): void {
    if (this.#reader === null) return;
    const { resolve, reject } = this.#reader;
    const value = this.#events.shift();
    if (value !== undefined) resolve({ done: false, value });
    else if (this.#end === undefined) return;
    else if (this.#end === null) resolve({ done: true, value });
    else {
      reject(this.#end);
      this.#end = null;
    }
    this.#reader = null;
  }
}
