import { AUDIO } from '@svc-asr/protocol/constants.ts';
import { VoiceActivity, WINDOW_SAMPLES } from './voice-activity.ts';

export interface GateOptions {
  /** How much is kept from before the first sound of speech. Default 300. */
  readonly leadMs?: number;
  /** How long silence is still sent after the last. Default 700: pauses inside a sentence stay in it. */
  readonly holdMs?: number;
}

/** What to do with a piece of audio, in order: send samples, or let time pass. */
export type GateOutput =
  | { readonly do: 'send'; readonly samples: Int16Array }
  | { readonly do: 'skip'; readonly ms: number };

const WINDOW_MS = (WINDOW_SAMPLES * 1000) / AUDIO.sampleRateHz;

/**
 * Lets speech through and holds long silence back. Accepted audio is charged, silence included; time in which
 * nothing is sent is free. Skipped time is told, so that the transcript's times stay true.
 */
export class VoiceGate {
  readonly #activity = new VoiceActivity();
  readonly #leadWindows: number;
  readonly #holdWindows: number;
  #lead: Int16Array[] = [];
  #rest = new Int16Array(0);
  #quietWindows = Infinity;
  #skippedMs = 0;

  constructor(options: GateOptions = {}) {
    this.#leadWindows = Math.ceil((options.leadMs ?? 300) / WINDOW_MS);
    this.#holdWindows = Math.ceil((options.holdMs ?? 700) / WINDOW_MS);
  }

  get isOpen(): boolean {
    return this.#quietWindows <= this.#holdWindows;
  }

  push(samples: Int16Array): GateOutput[] {
    const joined = new Int16Array(this.#rest.length + samples.length);
    joined.set(this.#rest);
    joined.set(samples, this.#rest.length);
    const output: GateOutput[] = [];
    let at = 0;
    for (; at + WINDOW_SAMPLES <= joined.length; at += WINDOW_SAMPLES) {
      output.push(...this.#hear(joined.slice(at, at + WINDOW_SAMPLES)));
    }
    this.#rest = joined.slice(at);
    return output;
  }

  /** At the end of the audio: the last piece, shorter than a window, if speech was going on. */
  end(): GateOutput[] {
    const samples = this.#rest;
    this.#rest = new Int16Array(0);
    return this.isOpen && samples.length > 0 ? [{ do: 'send', samples }] : [];
  }

  #hear(window: Int16Array): GateOutput[] {
    const wasOpen = this.isOpen;
    this.#quietWindows = this.#activity.isSpeech(window) ? 0 : this.#quietWindows + 1;
    if (wasOpen && this.isOpen) return [{ do: 'send', samples: window }];
    if (this.isOpen) return this.#open(window);
    this.#lead.push(window);
    if (this.#lead.length > this.#leadWindows) {
      this.#lead.shift();
      this.#skippedMs += WINDOW_MS;
    }
    return [];
  }

  #open(window: Int16Array): GateOutput[] {
    const sent = [...this.#lead, window].map((samples) => ({ do: 'send' as const, samples }));
    const skipped = this.#skippedMs;
    this.#lead = [];
    this.#skippedMs = 0;
    return skipped === 0 ? sent : [{ do: 'skip', ms: skipped }, ...sent];
  }
}
