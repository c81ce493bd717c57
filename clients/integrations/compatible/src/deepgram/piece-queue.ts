/** Pieces that are pushed on one side and read on the other, one at a time. */
export class PieceQueue implements AsyncIterable<Uint8Array> {
  #waiting: { readonly bytes: Uint8Array; readonly taken: () => void }[] = [];
  #isEnded = false;
  #wake: () => void = () => undefined;

  /** Resolves when the reader has taken the piece. The caller limits how many wait. */
  push(bytes: Uint8Array): Promise<void> {
    if (this.#isEnded) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ bytes, taken: resolve });
    this.#wake();
    return promise;
  }

  /** Pieces that were pushed before are still read. */
  end(): void {
    this.#isEnded = true;
    this.#wake();
  }

  /** Nobody reads any more: what waits counts as taken. */
  abandon(): void {
    this.end();
    for (const { taken } of this.#waiting.splice(0)) taken();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const piece = this.#waiting.shift();
      if (piece !== undefined) {
        piece.taken();
        yield piece.bytes;
      } else if (this.#isEnded) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}
