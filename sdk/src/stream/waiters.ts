import type { SvcError } from '../errors.ts';
import { quiet } from './failures.ts';

/** Promises by number, until someone answers them. */
export class Waiters<T> {
  readonly #waiting = new Map<
    number,
    { resolve: (value: T) => void; reject: (error: SvcError) => void }
  >();

  wait(id: number): Promise<T> {
    return quiet(new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject })));
  }

  resolve(id: number, value: T): void {
    this.#waiting.get(id)?.resolve(value);
    this.#waiting.delete(id);
  }

  resolveAll(this: Waiters<void>): void {
    for (const id of this.#waiting.keys()) this.resolve(id);
  }

  rejectAll(error: SvcError): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
