const HEADER = 'svc-ignored-parameters';
const NAMES_MAX = 20;
/** Letters that can't forge a header. Other names are not repeated. */
const NAME = /^[\w.[\]-]{1,40}$/;

/** The parameters of a request that have no effect. Each is named once, in a response header. */
export class IgnoredParameters {
  readonly #names = new Set<string>();
  readonly #write: (header: [string, string]) => void;

  constructor(write: (header: [string, string]) => void) {
    this.#write = write;
  }

  add(name: string): void {
    if (!NAME.test(name) || this.#names.size >= NAMES_MAX) return;
    this.#names.add(name);
    this.#write([HEADER, [...this.#names].join(', ')]);
  }
}
