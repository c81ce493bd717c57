import type { SvcError } from '../errors.ts';
import { ignoreRejection } from './stream-errors.ts';

/** Unsettled promises, by id. */
export class PendingResults<T> {
  readonly #pending = new Map<
    number,
    { resolve: (value: T) => void; reject: (error: SvcError) => void }
  >();

  wait(id: number): Promise<T> {
    return ignoreRejection(
      new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject })),
    );
  }

  resolve(id: number, value: T): void {
    this.#pending.get(id)?.resolve(value);
    this.#pending.delete(id);
  }

  resolveAll(this: PendingResults<void>): void {
    for (const id of this.#pending.keys()) this.resolve(id);
  }

  rejectAll(error: SvcError): void {
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
  }
}
