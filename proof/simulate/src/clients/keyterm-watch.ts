/** Knows which keyterms apply to each utterance of a session, from what the client sent. */
export class KeytermWatch {
  readonly #byUtterance: (readonly string[])[] = [];
  /** Of the utterance that the client is sending, and of those after it. */
  #current: readonly string[] = [];
  #next: readonly string[] = [];
  #hasAudio = false;
  /** Every list, and how much audio was sent before it. */
  readonly #named: { readonly keyterms: readonly string[]; readonly atMs: number }[] = [
    { keyterms: [], atMs: -Infinity },
  ];
  #hasTurns = false;
  #isUncertain = false;

  onSent(data: string | Uint8Array, sentMs: number): void {
    if (typeof data !== 'string') this.#hasAudio = true;
    else if (data.startsWith('{"type":"config"')) this.#onConfig(data, sentMs);
    else if (/^\{"type":"(flush|reset)"/.test(data)) this.#endUtterance();
  }

  /** The service may have refused a message, or have taken one that came before `ready`. */
  onDoubt(): void {
    this.#isUncertain = true;
  }

  /** The lists of which one must apply to an utterance that began at this time of the session. */
  allowed(utterance: number, startMs: number): readonly (readonly string[])[] {
    if (this.#isUncertain) return this.#named.map(({ keyterms }) => keyterms);
    if (!this.#hasTurns) return [this.#byUtterance[utterance] ?? this.#current];
    // The service decides where utterances end, so only their start says which list was the last before it.
    const last = this.#named.findLastIndex(({ atMs }) => atMs <= startMs);
    return this.#named.slice(Math.max(0, last), last + 1).map(({ keyterms }) => keyterms);
  }

  #onConfig(text: string, sentMs: number): void {
    const { keyterms, endpointing }: { keyterms?: string[]; endpointing?: unknown } =
      JSON.parse(text);
    if (endpointing !== undefined) this.#hasTurns = true;
    if (keyterms === undefined) return;
    this.#named.push({ keyterms, atMs: sentMs });
    this.#next = keyterms;
    if (!this.#hasAudio) this.#current = keyterms;
  }

  #endUtterance(): void {
    this.#byUtterance.push(this.#current);
    this.#current = this.#next;
    this.#hasAudio = false;
  }
}
