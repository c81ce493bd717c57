import {
  EngineBusy,
  type Engine,
  type EngineEvent,
  type EngineStream,
  type OpenInput,
} from '@svc-asr/engine/core.ts';
import { EngineFeed, type EngineFeedInput } from './engine-feed.ts';

export interface EngineLinkInput extends Omit<EngineFeedInput, 'stream'> {
  readonly engine: Engine;
  readonly open: Omit<OpenInput, 'signal'>;
  readonly onOpen: (stream: EngineStream) => void;
  /** There is no slot now. The caller may open it again. */
  readonly onBusy: () => void;
  readonly onRefused: (error: unknown) => void;
  readonly onEvent: (event: EngineEvent) => void;
}

/** The engine stream of one connection. After `close` it calls nothing but `onEvent`, with the last events. */
export class EngineLink {
  readonly #input: EngineLinkInput;
  readonly #opening = new AbortController();
  #isOpening = false;
  #isClosed = false;
  #stream: EngineStream | null = null;
  #feed: EngineFeed | null = null;

  constructor(input: EngineLinkInput) {
    this.#input = input;
  }

  /** Null until it is open. */
  get stream(): EngineStream | null {
    return this.#stream;
  }

  get feed(): EngineFeed | null {
    return this.#feed;
  }

  /** True while the engine is behind. The socket is paused then. */
  get isBehind(): boolean {
    return this.#feed?.isBehind === true;
  }

  /** Does nothing while the stream is open or opening. */
  open(): void {
    if (this.#stream !== null || this.#isOpening) return;
    this.#isOpening = true;
    const { engine, open } = this.#input;
    engine.open({ ...open, signal: this.#opening.signal }).then(
      (stream) => this.#onOpen(stream),
      (error: unknown) => this.#onRefused(error),
    );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#opening.abort();
    await this.#stream?.close();
  }

  #onOpen(stream: EngineStream): void {
    this.#isOpening = false;
    if (this.#isClosed) return void stream.close();
    this.#stream = stream;
    this.#feed = new EngineFeed({ ...this.#input, stream });
    this.#input.onOpen(stream);
    void this.#listen(stream);
  }

  /** A slot that was free at the upgrade may have been lost with a crashed child process. */
  #onRefused(error: unknown): void {
    this.#isOpening = false;
    if (this.#isClosed) return;
    if (error instanceof EngineBusy) this.#input.onBusy();
    else this.#input.onRefused(error);
  }

  async #listen(stream: EngineStream): Promise<void> {
    for await (const event of stream.events) this.#input.onEvent(event);
  }
}
