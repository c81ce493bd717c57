import type { EngineEvent } from '../engine.ts';
import { ReplayBuffer } from './replay-buffer.ts';
import type { ReplayMemory } from './replay-memory.ts';

type Delta = Extract<EngineEvent, { type: 'delta' }>;
type Final = Extract<EngineEvent, { type: 'final' }>;

/** An utterance without its final: its audio and the text that the caller has already seen. */
export class Utterance {
  readonly number: number;
  readonly audio: ReplayBuffer;
  keyterms: readonly string[];
  /** Also true if its audio could not be kept. */
  hasAudio = false;
  /** The utterance after this one, once this one is flushed or dropped. */
  next: Utterance | null = null;
  /** How many recognisers were lost while it was unfinished. */
  losses = 0;
  #shownText = '';
  #stableText = '';
  #shownSamples = 0;

  constructor(number: number, memory: ReplayMemory, keyterms: readonly string[]) {
    this.number = number;
    this.keyterms = keyterms;
    this.audio = new ReplayBuffer(memory);
  }

  /** True if the event contradicts text that was already sent as stable. */
  contradictedBy(event: Delta | Final): boolean {
    return !event.text.startsWith(this.#stableText);
  }

  /** True for a delta that only repeats text which was shown before the replay. */
  hasShown(event: Delta): boolean {
    if (this.losses === 0) return false;
    return event.samples <= this.#shownSamples || event.text === this.#shownText;
  }

  show(event: Delta): void {
    this.#shownText = event.text;
    this.#stableText = event.text.slice(0, event.stableLength);
    this.#shownSamples = event.samples;
  }
}
