import type { Engine, EngineEvent, EngineStream } from '@svc-asr/engine';
import { CHUNK_SAMPLES, type ModelId } from '@svc-asr/protocol';

/** Collects a stream's events as they arrive. */
export function read(stream: EngineStream): Reading {
  return new Reading(stream);
}

export class Reading {
  /** Every event so far. */
  readonly seen: EngineEvent[] = [];
  /** All events, once the stream has ended. */
  readonly ended: Promise<readonly EngineEvent[]>;
  #waiting: { fact: () => boolean; resolve: () => void }[] = [];
  #over = false;

  constructor(stream: EngineStream) {
    this.ended = this.#consume(stream);
  }

  /** Waits for this many events of a type, or for the end of the stream. */
  async until(type: EngineEvent['type'], count = 1): Promise<readonly EngineEvent[]> {
    const ofType = (): EngineEvent[] => this.seen.filter((event) => event.type === type);
    const fact = (): boolean => this.#over || ofType().length >= count;
    if (!fact()) await new Promise<void>((resolve) => this.#waiting.push({ fact, resolve }));
    return ofType();
  }

  async #consume(stream: EngineStream): Promise<readonly EngineEvent[]> {
    for await (const event of stream.events) {
      this.seen.push(event);
      this.#notice();
    }
    this.#over = true;
    this.#notice();
    return this.seen;
  }

  #notice(): void {
    for (const waiter of this.#waiting) if (waiter.fact()) waiter.resolve();
    this.#waiting = this.#waiting.filter((waiter) => !waiter.fact());
  }
}

export function finals(events: readonly EngineEvent[]): string[] {
  return events.flatMap((event) => (event.type === 'final' ? [event.text] : []));
}

/** Streams two chunks of silence and returns the texts of the finals. */
export async function recognise(engine: Engine, model: ModelId): Promise<string[]> {
  const stream = await engine.open({ model, signal: new AbortController().signal });
  const reading = read(stream);
  await stream.write(new Uint8Array(CHUNK_SAMPLES * 4));
  stream.flush();
  const said = finals(await reading.until('final'));
  await stream.close();
  return said;
}
