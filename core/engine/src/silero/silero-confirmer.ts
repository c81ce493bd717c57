import type { VoiceConfirmer } from '../voice-activity/confirmer.ts';
import { Silero } from './silero.ts';
import { SileroListener } from './silero-listener.ts';

/** After this long the event loop gets its turn. */
const SLICE_MS = 1;

/**
 * Silero VAD for the streams of a node, in its event loop. Live audio goes first, then audio sent faster than real time. In
 * both, owners take turns, so that nobody waits for another's files.
 */
export class SileroConfirmer implements VoiceConfirmer {
  readonly #silero: Pick<Silero, 'examine'>;
  readonly #live = new Turns();
  readonly #fast = new Turns();
  #isScheduled = false;

  constructor(silero: Pick<Silero, 'examine'>) {
    this.#silero = silero;
  }

  static async load(): Promise<SileroConfirmer> {
    return new SileroConfirmer(await Silero.load());
  }

  open({ startSample, owner }: { startSample: number; owner: string }): SileroListener {
    const onWaiting = (listener: SileroListener): void => {
      (listener.isLive ? this.#live : this.#fast).add(owner, listener);
      this.#schedule();
    };
    return new SileroListener({ silero: this.#silero, startSample, onWaiting });
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#run();
    });
  }

  /** A slice has only live audio or none, so that its verdicts don't wait for others. */
  #run(): void {
    const endMs = performance.now() + SLICE_MS;
    const turns = this.#live.isEmpty ? this.#fast : this.#live;
    while (!turns.isEmpty && performance.now() < endMs) turns.take()?.examine();
    if (!this.#live.isEmpty || !this.#fast.isEmpty) this.#schedule();
  }
}

/** The listeners that wait, by owner. */
class Turns {
  readonly #owners = new Map<string, SileroListener[]>();

  get isEmpty(): boolean {
    return this.#owners.size === 0;
  }

  add(owner: string, listener: SileroListener): void {
    const waiting = this.#owners.get(owner);
    if (waiting === undefined) this.#owners.set(owner, [listener]);
    else waiting.push(listener);
  }

  /** The next listener of the owner who has waited longest. */
  take(): SileroListener | undefined {
    const [first] = this.#owners;
    if (first === undefined) return undefined;
    const [owner, waiting] = first;
    const listener = waiting.shift();
    this.#owners.delete(owner);
    if (waiting.length > 0) this.#owners.set(owner, waiting);
    return listener;
  }
}
