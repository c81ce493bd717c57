/** A call of a stream that waits its turn. */
export type HeldCall<Audio> =
  | { readonly do: 'audio'; readonly audio: Audio }
  | { readonly do: 'flush' }
  | { readonly do: 'reset' }
  | { readonly do: 'expect'; readonly keyterms: readonly string[] };

/** The calls of a stream that wait, in order. The owner limits them. */
export class CallQueue<Audio> {
  readonly #calls: HeldCall<Audio>[] = [];

  get length(): number {
    return this.#calls.length;
  }

  /** The audio that waits last, if nothing was called after it. */
  get lastAudio(): Audio | null {
    const last = this.#calls.at(-1);
    return last?.do === 'audio' ? last.audio : null;
  }

  add(call: HeldCall<Audio>): void {
    this.#calls.push(call);
  }

  shift(): HeldCall<Audio> | undefined {
    return this.#calls.shift();
  }

  /** Removes the audio of the utterance that a reset drops: all that no flush or reset follows. Keyterms stay. */
  dropUnflushed(): Audio[] {
    const ended = this.#calls.findLastIndex((call) => call.do === 'flush' || call.do === 'reset');
    return this.#removeAudio(ended + 1);
  }

  clear(): Audio[] {
    const audio = this.#removeAudio(0);
    this.#calls.length = 0;
    return audio;
  }

  /** Makes the calls in order, until `make` returns false because one can't be made yet. */
  advance(make: (call: HeldCall<Audio>) => boolean): void {
    for (let call = this.#calls[0]; call !== undefined; call = this.#calls[0]) {
      if (!make(call)) return;
      this.#calls.shift();
    }
  }

  #removeAudio(from: number): Audio[] {
    const audio: Audio[] = [];
    for (const call of this.#calls.splice(from)) {
      if (call.do === 'audio') audio.push(call.audio);
      else this.#calls.push(call);
    }
    return audio;
  }
}
