import type { FinalEvent } from '@svc-asr/protocol';
import type { BufferEntry } from '../src/stream/replay-buffer.ts';

/** Tests write whole milliseconds, so that every time is exact. */
export const SAMPLES_PER_MS = 16;

/**
 * Simulates a session of the service: one final per flush, and a last one at the limit. It "recognises"
 * the first sample of every millisecond as a word, so each word identifies its position in the audio.
 */
export class SimulatedSession {
  readonly events: ({ type: 'reset_ack' } | FinalEvent)[] = [];
  readonly #limitSamples: number;
  /** The speaker pauses after this much audio of an utterance, also in the middle of a frame. */
  readonly #endpointSamples: number;
  #received: number[] = [];
  #utteranceStart = 0;
  #utterance = 0;
  #full = false;

  constructor(limitMs: number, endpointEveryMs = Infinity) {
    this.#limitSamples = limitMs * SAMPLES_PER_MS;
    this.#endpointSamples = endpointEveryMs * SAMPLES_PER_MS;
  }

  get samplesLeft(): number {
    return this.#limitSamples - this.#received.length;
  }

  receive(entry: BufferEntry): void {
    if (this.#full) return;
    switch (entry.kind) {
      case 'audio': {
        const view = new DataView(entry.pcm.buffer, entry.pcm.byteOffset, entry.pcm.byteLength);
        for (let at = 0; at < entry.pcm.byteLength && this.samplesLeft > 0; at += 2) {
          this.#received.push(view.getInt16(at, true));
          const isPause = this.#received.length - this.#utteranceStart === this.#endpointSamples;
          if (isPause && this.samplesLeft > 0) this.#finish('endpoint');
        }
        if (this.samplesLeft > 0) return;
        this.#full = true;
        this.#finish('max_audio_reached');
        return;
      }
      case 'flush':
        this.#finish('flush');
        return;
      case 'reset':
        this.#begin();
        this.events.push({ type: 'reset_ack' });
        return;
    }
  }

  #finish(reason: FinalEvent['reason']): void {
    const words = this.#words();
    const start = this.#utteranceStart / SAMPLES_PER_MS;
    const end = this.#received.length / SAMPLES_PER_MS;
    this.events.push({
      type: 'final',
      text: words.map((word) => word.text).join(' '),
      utterance: this.#utterance,
      reason,
      start_ms: start,
      end_ms: end,
      words,
      audio_ms: end - start,
      total_audio_ms: end,
      billable_ms: Math.ceil(end / 1000) * 1000,
    });
    this.#begin();
  }

  #words(): FinalEvent['words'] {
    const words: FinalEvent['words'] = [];
    for (let at = this.#utteranceStart; at < this.#received.length; at += SAMPLES_PER_MS) {
      const start = at / SAMPLES_PER_MS;
      words.push({ text: String(this.#received[at]), start_ms: start, end_ms: start + 1 });
    }
    return words;
  }

  #begin(): void {
    this.#utteranceStart = this.#received.length;
    this.#utterance += 1;
  }
}
