import { BYTES_PER_SAMPLE, BYTES_PER_SECOND } from '@svc-asr/protocol/constants.ts';
import type { Config } from './options.ts';

export type BufferEntry =
  | {
      readonly kind: 'audio';
      readonly at: number;
      readonly pcm: Uint8Array<ArrayBuffer>;
      /** The list that applied when the audio was written. */
      readonly keyterms?: Config['keyterms'];
    }
  | { readonly kind: 'flush'; readonly id: number }
  | {
      readonly kind: 'reset';
      readonly id: number;
      /** Samples that the session received before the caller dropped them. */
      readonly droppedSamples: number;
    };

/** What a final covers: the flushes and resets it answers, and its audio in the caller's time. */
export interface Settled {
  readonly answered: readonly number[];
  readonly startSample: number | null;
  readonly endSample: number | null;
}

/**
 * Audio, flushes and resets since the last final, in order. After a failure the next session receives them again.
 * `at` is a sample's position in the caller's time, which continues through skipped silence and across sessions.
 */
export class ReplayBuffer {
  #entries: BufferEntry[] = [];
  /** Entries before it were sent to the current session. */
  #cursor = 0;
  #endSample = 0;
  #unsentSamples = 0;
  /** How many samples of the current session lie before the first entry. */
  #settledSamples = 0;
  #oddByte = new Uint8Array();
  #lastId = 0;
  /** Of audio that is written from now on. */
  keyterms: Config['keyterms'];

  get unsentBytes(): number {
    return BYTES_PER_SAMPLE * this.#unsentSamples;
  }

  get endSample(): number {
    return this.#endSample;
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** Whether a reset is unanswered: until then events are about audio that the caller dropped. */
  get isResetPending(): boolean {
    return this.#entries.find((entry) => entry.kind !== 'audio')?.kind === 'reset';
  }

  /** Copies the bytes, because callers reuse their buffers. An odd byte waits for the next write. */
  write(bytes: Uint8Array): void {
    const carried = this.#oddByte.byteLength;
    const whole = new Uint8Array(carried + bytes.byteLength);
    whole.set(this.#oddByte);
    whole.set(bytes, carried);
    const even = whole.byteLength - (whole.byteLength % BYTES_PER_SAMPLE);
    this.#oddByte = whole.slice(even);
    // At most a second per frame: efficient for files, and a lost frame costs little.
    for (let from = 0; from < even; from += BYTES_PER_SECOND) {
      const pcm = whole.subarray(from, Math.min(even, from + BYTES_PER_SECOND));
      this.#entries.push({ kind: 'audio', at: this.#endSample, pcm, keyterms: this.keyterms });
      this.#endSample += pcm.byteLength / BYTES_PER_SAMPLE;
      this.#unsentSamples += pcm.byteLength / BYTES_PER_SAMPLE;
    }
  }

  /** Returns a number for a flush, reset or write that waits. */
  newId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  skip(samples: number): void {
    this.#endSample += samples;
  }

  flush(id: number): void {
    this.#entries.push({ kind: 'flush', id });
  }

  /** Inserts a flush before all unsent entries: it ends the utterance that the session has received so far. */
  flushSent(id: number): void {
    this.#entries.splice(this.#cursor, 0, { kind: 'flush', id });
  }

  /** Drops audio after the last flush. The service must be told only if it received some of it. */
  reset(id: number): 'to_send' | 'done' {
    const keep = this.#entries.findLastIndex((entry) => entry.kind !== 'audio') + 1;
    const sent = this.#entries.slice(keep, this.#cursor);
    this.#entries.splice(keep);
    this.#countUnsent();
    if (sent.length === 0) return 'done';
    this.#cursor = keep;
    this.#entries.push({ kind: 'reset', id, droppedSamples: sumOf(sent, samplesIn) });
    return 'to_send';
  }

  /** The next entry to send. */
  peek(): BufferEntry | undefined {
    return this.#entries[this.#cursor];
  }

  /** Returns the next entry, with at most `samplesMax` samples of audio, and marks it as sent. */
  next(samplesMax = Infinity): BufferEntry | undefined {
    const whole = this.peek();
    if (whole !== undefined && samplesIn(whole) > samplesMax) this.#split(this.#cursor, samplesMax);
    const entry = this.peek();
    if (entry === undefined) return;
    this.#cursor += 1;
    this.#unsentSamples -= samplesIn(entry);
    return entry;
  }

  /** Removes everything up to the oldest flush, which has its final. Null if no flush was sent. */
  settleFlush(): Settled | null {
    return this.#settleOldest('flush');
  }

  settleReset(): number | null {
    return this.#settleOldest('reset')?.answered.at(-1) ?? null;
  }

  /**
   * Removes everything up to a sample of the session: the session's last final covered it. Flushes and resets right behind
   * are answered too. Audio that was on its way when the service stopped reading stays.
   */
  settleEnd(sessionSample: number): Settled {
    const all = this.#entries.length;
    let to = this.#sentUpTo(sessionSample, false);
    while (to >= this.#cursor && to < all && this.#entries[to]?.kind !== 'audio') to += 1;
    return this.#settle(to);
  }

  /** Removes audio up to a sample of the session: an endpoint's final covered it. Later audio stays. */
  settleUpTo(sessionSample: number): Settled {
    return this.#settle(this.#sentUpTo(sessionSample, true));
  }

  /** Marks everything as unsent for a new session. Returns the ids of the resets, which are no longer needed. */
  rewind(): number[] {
    const resets = this.#entries.flatMap((entry) => (entry.kind === 'reset' ? [entry.id] : []));
    this.#entries = this.#entries.filter((entry) => entry.kind !== 'reset');
    this.#cursor = 0;
    this.#settledSamples = 0;
    this.#countUnsent();
    return resets;
  }

  #countUnsent(): void {
    this.#unsentSamples = sumOf(this.#entries.slice(this.#cursor), samplesIn);
  }

  #settleOldest(kind: 'flush' | 'reset'): Settled | null {
    const at = this.#entries.findIndex((entry) => entry.kind === kind);
    return at < 0 || at >= this.#cursor ? null : this.#settle(at + 1);
  }

  /** Counts the sent entries up to a sample of the session, or only its audio. Splits the entry that it is in. */
  #sentUpTo(sessionSample: number, onlyAudio: boolean): number {
    let left = sessionSample - this.#settledSamples;
    let to = 0;
    for (const entry of this.#entries.slice(0, this.#cursor)) {
      if (entry.kind === 'audio' ? left <= 0 : onlyAudio) break;
      if (samplesIn(entry) > left) this.#split(to, left);
      left -= sentSamplesOf(entry);
      to += 1;
    }
    return to;
  }

  /** Both parts of an audio entry that was sent were sent. */
  #split(index: number, samples: number): void {
    const whole = this.#entries[index];
    if (whole?.kind !== 'audio') return;
    const cut = samples * BYTES_PER_SAMPLE;
    const head = { ...whole, pcm: whole.pcm.subarray(0, cut) };
    const rest = { ...whole, at: whole.at + samples, pcm: whole.pcm.subarray(cut) };
    this.#entries.splice(index, 1, head, rest);
    if (index < this.#cursor) this.#cursor += 1;
  }

  #settle(to: number): Settled {
    const done = this.#entries.splice(0, to);
    this.#cursor = Math.max(0, this.#cursor - to);
    this.#settledSamples += sumOf(done, sentSamplesOf);
    const audio = done.filter((entry) => entry.kind === 'audio');
    const last = audio.at(-1);
    return {
      answered: done.flatMap((entry) => (entry.kind === 'audio' ? [] : [entry.id])),
      startSample: audio[0]?.at ?? null,
      endSample: last === undefined ? null : last.at + samplesIn(last),
    };
  }
}

function sumOf(entries: readonly BufferEntry[], samplesOf: (entry: BufferEntry) => number): number {
  return entries.reduce((sum, entry) => sum + samplesOf(entry), 0);
}

export function samplesIn(entry: BufferEntry): number {
  return entry.kind === 'audio' ? entry.pcm.byteLength / BYTES_PER_SAMPLE : 0;
}

/** Samples of the entry itself, or those that a reset dropped. */
function sentSamplesOf(entry: BufferEntry): number {
  return entry.kind === 'reset' ? entry.droppedSamples : samplesIn(entry);
}
