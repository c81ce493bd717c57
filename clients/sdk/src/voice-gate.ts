import { AUDIO } from '@svc-asr/protocol/constants.ts';
import { LevelDetector, WINDOW_SAMPLES } from './level-detector.ts';

export interface GateOptions {
  /** Audio sent from before speech starts. Default 300. Speech in the first second is sent with everything before it. */
  readonly leadMs?: number;
  /** Silence still sent after speech ends. Default 700, which keeps pauses inside a sentence. */
  readonly holdMs?: number;
}

/** What to do with a chunk of audio, in order: send samples, or skip time. */
export type GateOutput =
  | { readonly do: 'send'; readonly samples: Int16Array }
  | { readonly do: 'skip'; readonly ms: number };

/**
 * Silence before the first speech is sent with it if it is no longer than this. A recording that starts with a short silence
 * then reaches the recogniser sample by sample, as without a gate.
 */
const FIRST_LEAD_MS = 1_000;
const WINDOW_MS = (WINDOW_SAMPLES * 1000) / AUDIO.sampleRateHz;

/**
 * Passes speech and drops long silences. The service charges accepted audio, silence included; skipped time is free.
 * The gate reports skipped time, so that the transcript's times stay correct.
 */
export class VoiceGate {
  readonly #level = new LevelDetector();
  readonly #leadWindows: number;
  readonly #holdWindows: number;
  #leadWindowsMax: number;
  #lead: Int16Array[] = [];
  #rest = new Int16Array(0);
  #quietWindows = Infinity;
  #skippedMs = 0;

  constructor(options: GateOptions = {}) {
    this.#leadWindows = Math.ceil((options.leadMs ?? 300) / WINDOW_MS);
    this.#holdWindows = Math.ceil((options.holdMs ?? 700) / WINDOW_MS);
    this.#leadWindowsMax = Math.max(this.#leadWindows, FIRST_LEAD_MS / WINDOW_MS);
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
      output.push(...this.#processWindow(joined.slice(at, at + WINDOW_SAMPLES)));
    }
    this.#rest = joined.slice(at);
    return output;
  }

  /** Call at the end of the audio, and before a flush. Returns the last samples, shorter than a window, while open. */
  end(): GateOutput[] {
    const samples = this.#rest;
    this.#rest = new Int16Array(0);
    return this.isOpen && samples.length > 0 ? [{ do: 'send', samples }] : [];
  }

  #processWindow(window: Int16Array): GateOutput[] {
    const wasOpen = this.isOpen;
    this.#quietWindows = this.#level.isSpeech(window) ? 0 : this.#quietWindows + 1;
    if (wasOpen && this.isOpen) return [{ do: 'send', samples: window }];
    if (this.isOpen) return this.#open(window);
    this.#lead.push(window);
    if (this.#lead.length > this.#leadWindowsMax) {
      this.#leadWindowsMax = this.#leadWindows;
      const dropped = this.#lead.splice(0, this.#lead.length - this.#leadWindows);
      this.#skippedMs += dropped.length * WINDOW_MS;
    }
    return [];
  }

  #open(window: Int16Array): GateOutput[] {
    const sent = [...this.#lead, window].map((samples) => ({ do: 'send' as const, samples }));
    const skipped = this.#skippedMs;
    this.#lead = [];
    this.#leadWindowsMax = this.#leadWindows;
    this.#skippedMs = 0;
    return skipped === 0 ? sent : [{ do: 'skip', ms: skipped }, ...sent];
  }
}
