import type { ServerEvent } from '@svc-asr/protocol';
import type { SocketEnd } from '../../../sdk/src/stream/close-info.ts';
import { SpeechReader } from '../world/speech.ts';

type Final = Extract<ServerEvent, { type: 'final' }>;
type Delta = Extract<ServerEvent, { type: 'delta' }>;
type Fatal = Extract<ServerEvent, { type: 'error' }>;

const BYTES_PER_MS = 32;

/** Checks the events of one stream, one by one, against the contract. */
export class SessionWatch {
  readonly #report: (violation: string) => void;
  #isReady = false;
  #maxAudioMs = Infinity;
  #fatal: Fatal | null = null;
  #isOver = false;
  /** Everything up to here is final or dropped. */
  #settledMs = 0;
  #lastFinal = -1;
  /** Text that was announced as stable, by utterance. */
  readonly #stable = new Map<number, string>();
  /** How much audio of its utterance the last delta covered. */
  #shown = { utterance: -1, audioMs: 0 };
  /** Audio that is neither final nor dropped. */
  #audio: Uint8Array[] = [];
  #sentBytes = 0;
  #flushes = 0;
  /** Those that the service must answer: after `ready`. */
  #flushesOwed = 0;
  #flushFinals = 0;
  /** Messages that the service refused, such as too many flushes. */
  #refusals = 0;
  #billableMs = 0;
  #hasOddBytes = false;
  #isDraining = false;
  /** The session has reached its audio limit. */
  #isFull = false;
  #isClosing = false;
  /** A reset was answered without the final before it, as at the end of a stream whose last finals are late. */
  #gaveUpFinals = false;
  /** And the client had not closed the stream, so the service must end it with an error. */
  #mustFail = false;

  constructor(report: (violation: string) => void) {
    this.#report = report;
  }

  get fatal(): Fatal | null {
    return this.#fatal;
  }

  /** What the client was told last. */
  get settledMs(): number {
    return this.#settledMs;
  }

  get billableMs(): number {
    return this.#billableMs;
  }

  get sentMs(): number {
    return Math.ceil(this.#sentBytes / BYTES_PER_MS);
  }

  /** Audio that the client sent beyond what the session accepts. */
  get excessMs(): number {
    return Math.max(0, this.sentMs - this.#maxAudioMs);
  }

  onSent(data: string | Uint8Array): void {
    if (typeof data !== 'string') {
      // Audio before `ready` is not accepted.
      if (!this.#isReady) this.#hasOddBytes = true;
      if (data.byteLength % BYTES_PER_MS !== 0) this.#hasOddBytes = true;
      this.#sentBytes += data.byteLength;
      if (!this.#hasOddBytes) this.#audio.push(data);
    } else if (data.startsWith('{"type":"flush"')) {
      this.#flushes += 1;
      if (this.#isReady) this.#flushesOwed += 1;
    }
  }

  /** The client closes the stream. */
  onClosing(): void {
    this.#isClosing = true;
  }

  onEvent(event: ServerEvent): void {
    if (this.#isOver) this.#report(`${event.type} after the close`);
    if (this.#fatal !== null) this.#report(`${event.type} after the fatal error`);
    const mayFollow =
      event.type === 'reset_ack' || event.type === 'config_ack' || event.type === 'error';
    if (this.#mustFail && !mayFollow) this.#report(`${event.type} after finals were given up`);
    const isEarly = !this.#isReady && event.type !== 'ready';
    if (isEarly && event.type !== 'status' && event.type !== 'error') {
      this.#report(`${event.type} before ready`);
    }
    switch (event.type) {
      case 'ready':
        if (this.#isReady) this.#report('ready twice');
        this.#isReady = true;
        this.#maxAudioMs = event.max_audio_ms;
        return;
      case 'delta':
        return this.#onDelta(event);
      case 'final':
        return this.#onFinal(event);
      case 'reset_ack':
        this.#lastFinal = Math.max(this.#lastFinal, event.utterance - 1);
        this.#onDropped(event.total_audio_ms, event.discarded_ms);
        return;
      case 'error':
        if (event.fatal) this.#fatal = event;
        else this.#refusals += 1;
        return;
      case 'status':
        if (event.code === 'draining') this.#isDraining = true;
        return;
      case 'config_ack':
      case 'speech_started':
      case 'speech_ended':
        return;
    }
  }

  onEnd({ code, reason, refusal }: SocketEnd): void {
    this.#isOver = true;
    if (this.#mustFail && code === 1000) this.#report('a reset was answered before its final');
    if (refusal !== null || code === 1006 || code === 1005) return;
    if (code === 1000) {
      if (this.#fatal !== null) this.#report(`closed with 1000 after ${this.#fatal.code}`);
      const missing = this.#flushesOwed - this.#flushFinals - this.#refusals;
      // A stream that reaches its limit answers no later flush.
      const mayLack = this.#isFull || this.#gaveUpFinals || reason !== 'completed';
      if (missing > 0 && !mayLack) this.#report(`${missing} flushes without a final`);
      return;
    }
    const { close_code: told = null, code: why = null } = this.#fatal ?? {};
    if (told !== code || why !== reason) {
      this.#report(`closed with ${code} ${reason} after the error ${why} ${told}`);
    }
  }

  #onDelta({ utterance, text, stable_chars: stableChars, audio_ms: audioMs }: Delta): void {
    const { utterance: shown, audioMs: shownMs } = this.#shown;
    if (utterance === shown && audioMs <= shownMs) {
      this.#report(`a delta of ${audioMs} ms after one of ${shownMs} ms`);
    }
    this.#shown = { utterance, audioMs };
    if (utterance <= this.#lastFinal)
      this.#report(`a delta of utterance ${utterance} after its final or reset`);
    const stable = this.#stable.get(utterance) ?? '';
    if (!text.startsWith(stable)) this.#report(`stable text changed in utterance ${utterance}`);
    if (stableChars < stable.length) this.#report(`stable text shrank in utterance ${utterance}`);
    this.#stable.set(utterance, text.slice(0, stableChars));
  }

  #onFinal(final: Final): void {
    const { utterance, text, reason } = final;
    if (this.#gaveUpFinals) this.#report(`final ${utterance} after the reply to a later reset`);
    if (utterance <= this.#lastFinal) this.#report(`final ${utterance} after ${this.#lastFinal}`);
    this.#lastFinal = utterance;
    if (!text.startsWith(this.#stable.get(utterance) ?? '')) {
      this.#report(`final ${utterance} changes stable text`);
    }
    if (final.start_ms !== this.#settledMs) {
      this.#report(`final ${utterance} starts at ${final.start_ms}, not at ${this.#settledMs}`);
    }
    if (final.end_ms > this.sentMs)
      this.#report(`final ${utterance} covers audio that was not sent`);
    if (final.total_audio_ms !== final.end_ms) this.#report('total_audio_ms is not end_ms');
    if (reason === 'flush') this.#flushFinals += 1;
    if (reason === 'max_audio_reached') this.#isFull = true;
    if (this.#flushFinals > this.#flushes) this.#report('more finals than flushes');
    this.#checkText(final);
    this.#settledMs = final.end_ms;
    // A stream that its server's restart cuts costs nothing.
    const isFree = this.#isDraining && final.billable_ms === 0;
    const mayFall = reason === 'draining' || isFree;
    if (mayFall ? final.billable_ms !== 0 : final.billable_ms < this.#billableMs) {
      this.#report(`billable_ms fell to ${final.billable_ms}`);
    }
    this.#billableMs = final.billable_ms;
  }

  /** The words must be those of exactly this audio. Its borders are whole milliseconds, except after odd frames. */
  #checkText({ utterance, text, start_ms: startMs, end_ms: endMs }: Final): void {
    if (this.#hasOddBytes) return;
    const reader = new SpeechReader();
    for (const pcm of this.#take((endMs - startMs) * BYTES_PER_MS)) reader.read(pcm);
    const expected = textOf(reader);
    const mayBeEmpty = endMs - startMs < SHORTEST_MS;
    if (text !== expected && !(text === '' && mayBeEmpty)) {
      this.#report(`final ${utterance} of ${startMs}-${endMs} ms is "${text}", not "${expected}"`);
    }
  }

  /** Removes the oldest audio. */
  #take(bytes: number): Uint8Array[] {
    const taken: Uint8Array[] = [];
    for (let left = bytes; left > 0;) {
      const [first, ...rest] = this.#audio;
      if (first === undefined) break;
      taken.push(first.subarray(0, left));
      this.#audio = first.byteLength > left ? [first.subarray(left), ...rest] : rest;
      left -= first.byteLength;
    }
    return taken;
  }

  #onDropped(totalMs: number, discardedMs: number): void {
    this.#take(discardedMs * BYTES_PER_MS);
    // Rounded up, unless everything is whole milliseconds.
    const roundedMs = this.#hasOddBytes ? 1 : 0;
    if (totalMs - this.#settledMs - discardedMs > roundedMs) {
      this.#gaveUpFinals = true;
      this.#mustFail = !this.#isClosing;
    }
    // Audio without its final is not charged, and neither is what was dropped after it.
    if (this.#gaveUpFinals) return;
    if (Math.abs(this.#settledMs + discardedMs - totalMs) > roundedMs) {
      this.#report(
        `a reset dropped ${discardedMs} ms up to ${totalMs}, but ${this.#settledMs} were settled`,
      );
    }
    this.#settledMs = totalMs;
    this.#billableMs = Math.max(this.#billableMs, Math.ceil(totalMs / 1000) * 1000);
  }
}

/** A flush of less audio may get an empty final. */
const SHORTEST_MS = 100;

function textOf(reader: SpeechReader): string {
  return reader
    .words()
    .map(({ text }) => text)
    .join(' ');
}
