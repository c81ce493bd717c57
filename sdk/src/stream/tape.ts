import { AUDIO } from '@svc-asr/protocol/constants.ts';

/** Frames of up to a second: large enough for files, small enough that a lost one costs little. */
const FRAME_BYTES = AUDIO.sampleRateHz * AUDIO.bytesPerSample;

export type TapeEntry =
  | { readonly kind: 'audio'; readonly at: number; readonly pcm: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'flush'; readonly id: number }
  | { readonly kind: 'reset'; readonly id: number };

/** What a final covered: the flushes and resets it answers, and the audio, in the caller's time. */
export interface Settled {
  readonly answered: readonly number[];
  readonly startSample: number | null;
  readonly endSample: number | null;
}

/**
 * Everything since the last final, in order: what a new session must hear after the old one failed. `at` is the
 * sample's place in the caller's time, which goes on through skipped silence and through every session.
 */
export class Tape {
  #entries: TapeEntry[] = [];
  /** Before it: sent on the present session. */
  #cursor = 0;
  #endSample = 0;
  #unsentBytes = 0;
  #oddByte: number | null = null;

  get unsentBytes(): number {
    return this.#unsentBytes;
  }

  get endSample(): number {
    return this.#endSample;
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  get isSent(): boolean {
    return this.#cursor === this.#entries.length;
  }

  /** Whether the service, until it has answered a reset, still speaks of what is to be forgotten. */
  get isForgotten(): boolean {
    return this.#entries.find((entry) => entry.kind !== 'audio')?.kind === 'reset';
  }

  /** Copies: callers reuse their buffers. An odd byte waits for its other half. */
  write(bytes: Uint8Array): void {
    const carried = this.#oddByte === null ? 0 : 1;
    const whole = new Uint8Array(carried + bytes.byteLength);
    if (this.#oddByte !== null) whole[0] = this.#oddByte;
    whole.set(bytes, carried);
    const even = whole.byteLength - (whole.byteLength % AUDIO.bytesPerSample);
    this.#oddByte = even === whole.byteLength ? null : (whole[even] ?? null);
    for (let from = 0; from < even; from += FRAME_BYTES) {
      const pcm = whole.subarray(from, Math.min(even, from + FRAME_BYTES));
      this.#entries.push({ kind: 'audio', at: this.#endSample, pcm });
      this.#endSample += sampleCount(pcm);
      this.#unsentBytes += pcm.byteLength;
    }
  }

  skip(samples: number): void {
    this.#endSample += samples;
  }

  flush(id: number): void {
    this.#entries.push({ kind: 'flush', id });
  }

  /** A flush before anything that is not yet sent: ends the utterance where the session stands. */
  flushHere(id: number): void {
    this.#entries.splice(this.#cursor, 0, { kind: 'flush', id });
  }

  /** Forgets audio after the last flush. The service need only be told if it has heard some of it. */
  reset(id: number): 'to_send' | 'done' {
    const keep = this.#entries.findLastIndex((entry) => entry.kind !== 'audio') + 1;
    const heard = this.#cursor > keep;
    this.#cut(keep, this.#entries.length);
    this.#oddByte = null;
    if (!heard) return 'done';
    this.#entries.push({ kind: 'reset', id });
    return 'to_send';
  }

  peek(): TapeEntry | undefined {
    return this.#entries[this.#cursor];
  }

  /** What to send next, audio up to so many samples of it; from then on it counts as sent. */
  next(samplesMax = Infinity): TapeEntry | undefined {
    const whole = this.#entries[this.#cursor];
    if (whole?.kind === 'audio' && sampleCount(whole.pcm) > samplesMax) {
      const cut = samplesMax * AUDIO.bytesPerSample;
      const head = { kind: 'audio', at: whole.at, pcm: whole.pcm.subarray(0, cut) } as const;
      const tail = { ...whole, at: whole.at + samplesMax, pcm: whole.pcm.subarray(cut) };
      this.#entries.splice(this.#cursor, 1, head, tail);
    }
    const entry = this.#entries[this.#cursor];
    if (entry === undefined) return undefined;
    this.#cursor += 1;
    if (entry.kind === 'audio') this.#unsentBytes -= entry.pcm.byteLength;
    return entry;
  }

  /** The oldest flush got its final: all before it is safe. Null: nobody asked for that final. */
  settleFlush(): Settled | null {
    const at = this.#entries.findIndex((entry) => entry.kind === 'flush');
    return at < 0 || at >= this.#cursor ? null : this.#settle(at + 1);
  }

  settleReset(): number | null {
    const at = this.#entries.findIndex((entry) => entry.kind === 'reset');
    if (at < 0 || at >= this.#cursor) return null;
    return this.#settle(at + 1).answered.at(-1) ?? null;
  }

  /** A final that nobody asked for covered all audio sent. Flushes and resets right behind it are answered too. */
  settleSent(): Settled {
    let to = this.#cursor;
    while (to < this.#entries.length && this.#entries[to]?.kind !== 'audio') to += 1;
    return this.#settle(to);
  }

  /** For a new session: nothing is sent yet, and what was to be forgotten needs no telling. Gives the resets' ids. */
  rewind(): number[] {
    const resets = this.#entries.flatMap((entry) => (entry.kind === 'reset' ? [entry.id] : []));
    this.#entries = this.#entries.filter((entry) => entry.kind !== 'reset');
    this.#cursor = 0;
    this.#unsentBytes = 0;
    for (const entry of this.#entries) {
      if (entry.kind === 'audio') this.#unsentBytes += entry.pcm.byteLength;
    }
    return resets;
  }

  #settle(to: number): Settled {
    const done = this.#entries.slice(0, to);
    const audio = done.filter((entry) => entry.kind === 'audio');
    const last = audio.at(-1);
    this.#cut(0, to);
    return {
      answered: done.flatMap((entry) => (entry.kind === 'audio' ? [] : [entry.id])),
      startSample: audio[0]?.at ?? null,
      endSample: last === undefined ? null : last.at + sampleCount(last.pcm),
    };
  }

  #cut(from: number, to: number): void {
    for (const entry of this.#entries.slice(Math.max(from, this.#cursor), to)) {
      if (entry.kind === 'audio') this.#unsentBytes -= entry.pcm.byteLength;
    }
    this.#entries.splice(from, to - from);
    if (this.#cursor > from) this.#cursor = Math.max(from, this.#cursor - (to - from));
  }
}

function sampleCount(pcm: Uint8Array): number {
  return pcm.byteLength / AUDIO.bytesPerSample;
}
