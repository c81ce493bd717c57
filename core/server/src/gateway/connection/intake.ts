import type { VoiceConfirmer, VoiceListener, VoiceVerdicts } from '@svc-asr/engine/core.ts';
import { LIMITS } from '@svc-asr/protocol';

export interface IntakeInput {
  /** Null: this node has no second detector. */
  readonly confirmer: VoiceConfirmer | null;
  /** Streams of one owner share its part of the detector. */
  readonly owner: string;
  /** `atMs` is when the frame arrived. */
  readonly onAudio: (frame: Buffer, atMs: number, voice: VoiceVerdicts | null) => void;
  /** Called when much audio waits, and when it no longer does. */
  readonly onPause: () => void;
  readonly onResume: () => void;
}

type Item =
  | { readonly frame: Buffer; readonly atMs: number; voice: VoiceVerdicts | null | undefined }
  | { readonly run: () => void }
  /** Everything behind it waits. */
  | { isHeld: boolean };

/** The socket is paused while this much audio waits: four seconds. */
const PAUSE_BYTES = 128 * 1024;
/** Messages that may wait. Then nothing waits any more. */
const ITEMS_MAX = 1_024;

/**
 * Passes what a client sends to the stream's rules, in order. Audio waits here until a second detector has examined it, so
 * that the rules get both together. Without one, nothing waits.
 */
export class Intake {
  readonly #input: IntakeInput;
  #items: Item[] = [];
  #listener: VoiceListener | null = null;
  /** The first half of the sample with which the detector starts. */
  #halfSample: number | null = null;
  #heldBytes = 0;
  #isPaused = false;
  #isPassing = false;

  constructor(input: IntakeInput) {
    this.#input = input;
  }

  get canConfirm(): boolean {
    return this.#input.confirmer !== null;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  /**
   * Starts or stops the second detector. `startSample` is the sample of the stream that arrives next, and `halfSample` its
   * first byte if that has arrived.
   */
  listen(isConfirming: boolean, startSample: number, halfSample: number | null = null): void {
    if (isConfirming === (this.#listener !== null)) return;
    this.#listener?.skip();
    this.#halfSample = halfSample;
    const { confirmer, owner } = this.#input;
    this.#listener = isConfirming ? (confirmer?.open({ startSample, owner }) ?? null) : null;
  }

  audio(frame: Buffer, atMs: number): void {
    if (this.#listener === null) return this.other(() => this.#input.onAudio(frame, atMs, null));
    const item: Item = { frame, atMs, voice: undefined };
    this.#items.push(item);
    this.#heldBytes += frame.byteLength;
    const half = this.#halfSample;
    this.#halfSample = null;
    const pcm = half === null ? frame : Buffer.concat([Buffer.of(half), frame]);
    void this.#confirm(item, this.#listener.listen(pcm));
    if (this.#heldBytes > LIMITS.heldAudioBytes) this.release();
    else if (!this.#isPaused && this.#heldBytes > PAUSE_BYTES) {
      this.#isPaused = true;
      this.#input.onPause();
    }
  }

  /** Nothing that arrives now passes before `until`, which never rejects. */
  hold(until: Promise<unknown>): void {
    const item = { isHeld: true };
    // In front of what arrived with the message that asks for it.
    this.#items.unshift(item);
    if (!this.#isPaused) {
      this.#isPaused = true;
      this.#input.onPause();
    }
    void this.#release(item, until);
  }

  /** Runs after the audio before it. */
  other(run: () => void): void {
    if (this.#items.length === 0 && !this.#isPassing) run();
    else this.#items.push({ run });
    if (this.#items.length > ITEMS_MAX) this.release();
  }

  /** Passes everything at once: what waits has no verdict, and nothing is held. */
  release(): void {
    this.#listener?.skip();
    for (const item of this.#items) {
      if ('frame' in item) item.voice ??= null;
      if ('isHeld' in item) item.isHeld = false;
    }
    this.#pass();
  }

  close(): void {
    this.#listener?.skip();
    this.#listener = null;
  }

  async #confirm(
    item: { voice: VoiceVerdicts | null | undefined },
    verdicts: Promise<VoiceVerdicts | null>,
  ): Promise<void> {
    item.voice = await verdicts;
    this.#pass();
  }

  async #release(item: { isHeld: boolean }, when: Promise<unknown>): Promise<void> {
    await when;
    item.isHeld = false;
    this.#pass();
  }

  #pass(): void {
    if (this.#isPassing) return;
    this.#isPassing = true;
    for (let item = this.#items[0]; item !== undefined; item = this.#items[0]) {
      if ('isHeld' in item) {
        if (item.isHeld) break;
        this.#items.shift();
      } else if ('run' in item) {
        this.#items.shift();
        item.run();
      } else {
        if (item.voice === undefined) break;
        this.#items.shift();
        this.#heldBytes -= item.frame.byteLength;
        this.#input.onAudio(item.frame, item.atMs, item.voice);
      }
    }
    this.#isPassing = false;
    const isHeld = this.#items.some((item) => 'isHeld' in item);
    if (!this.#isPaused || isHeld || this.#heldBytes > PAUSE_BYTES / 2) return;
    this.#isPaused = false;
    this.#input.onResume();
  }
}
