import type { ServerEvent } from '@svc-asr/protocol';
import { readLostToken } from '@svc-asr/protocol/lost-host.ts';
import type { SocketEnd } from '../../../../clients/sdk/src/stream/close-info.ts';
import { parseTranscript, recognised } from '../servers/speech.ts';
import { KeytermWatch } from './keyterm-watch.ts';
import { SentAudio } from './sent-audio.ts';

type Final = Extract<ServerEvent, { type: 'final' }>;
type Delta = Extract<ServerEvent, { type: 'delta' }>;
type Fatal = Extract<ServerEvent, { type: 'error' }>;

const BYTES_PER_MS = 32;
const SAMPLES_PER_MS = 16;
/** A flush of less audio may get an empty final. */
const SHORTEST_MS = 100;

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
  readonly #audio = new SentAudio();
  #sentBytes = 0;
  /** Whether all of it came after `ready`, so that the service must have accepted it. */
  #isAllAccepted = true;
  #flushes = 0;
  /** Those that the service must answer: after `ready`. */
  #flushesOwed = 0;
  #flushFinals = 0;
  /** Messages that the service refused, such as too many flushes. */
  #refusals = 0;
  #billableMs = 0;
  /** Lost sessions of its client, whose audio costs nothing when it is sent again. */
  #continues: readonly string[] = [];
  /** Frames that are not whole milliseconds. */
  #hasOddFrames = false;
  /** The service decides which of the audio before `ready` it takes. */
  #isAudioKnown = true;
  #isDraining = false;
  /** The session has reached its audio limit. */
  #isFull = false;
  /** For each reset that was not answered yet, the flushes and the whole samples before it. */
  readonly #resets: { readonly flushes: number; readonly samples: number }[] = [];
  readonly #keyterms = new KeytermWatch();
  /**
   * A reset was answered without the final before it, as at the end of a stream whose last finals are late. The service
   * must end it with an error.
   */
  #gaveUpFinals = false;

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

  /** The lost sessions that its client named. */
  get continues(): readonly string[] {
    return this.#continues;
  }

  get billableMs(): number {
    return this.#billableMs;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  get sentMs(): number {
    return Math.ceil(this.#sentBytes / BYTES_PER_MS);
  }

  /** Audio that the client sent beyond what the session accepts. */
  get excessMs(): number {
    return Math.max(0, this.sentMs - this.#maxAudioMs);
  }

  onSent(data: string | Uint8Array): void {
    // Settings are taken before `ready` too.
    const isConfig = typeof data === 'string' && data.startsWith('{"type":"config"');
    if (isConfig && data.includes('"continues":[')) this.#continues = namedIn(data);
    if (this.#isReady || isConfig) this.#keyterms.onSent(data, this.sentMs);
    else {
      // The service may have been ready, so a flush may have ended an utterance.
      this.#keyterms.onDoubt();
      this.#isAllAccepted = false;
    }
    if (typeof data !== 'string') {
      if (!this.#isReady) this.#isAudioKnown = false;
      if (data.byteLength % BYTES_PER_MS !== 0) this.#hasOddFrames = true;
      this.#sentBytes += data.byteLength;
      this.#audio.push(data);
    } else if (data.startsWith('{"type":"flush"')) {
      this.#flushes += 1;
      if (this.#isReady) this.#flushesOwed += 1;
    } else if (data.startsWith('{"type":"reset"')) {
      // One that came before `ready` is answered too.
      this.#resets.push({ flushes: this.#flushesOwed, samples: this.#audio.samples });
    }
  }

  onEvent(event: ServerEvent): void {
    if (this.#isOver) this.#report(`${event.type} after the close`);
    if (this.#fatal !== null) this.#report(`${event.type} after the fatal error`);
    const mayFollow =
      event.type === 'reset_ack' || event.type === 'config_ack' || event.type === 'error';
    if (this.#gaveUpFinals && !mayFollow) this.#report(`${event.type} after finals were given up`);
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
        this.#onDropped(event);
        return;
      case 'error':
        if (event.fatal) this.#fatal = event;
        else {
          this.#refusals += 1;
          this.#keyterms.onDoubt();
        }
        return;
      case 'status':
        if (event.code === 'draining') this.#isDraining = true;
        return;
      case 'config_ack':
      case 'speech_started':
      case 'speech_ended':
      case 'turn_eager':
      case 'turn_resumed':
        return;
    }
  }

  onEnd({ code, reason, refusal }: SocketEnd): void {
    this.#isOver = true;
    if (this.#gaveUpFinals && code === 1000) this.#report('a reset was answered before its final');
    if (refusal !== null || code === 1006 || code === 1005) return;
    if (code === 1000) {
      if (this.#fatal !== null) this.#report(`closed with 1000 after ${this.#fatal.code}`);
      const missing = this.#flushesOwed - this.#flushFinals - this.#refusals;
      // A stream that reaches its limit answers no later flush.
      const mayLack = this.#isFull || reason !== 'completed';
      if (missing > 0 && !mayLack) this.#report(`${missing} flushes without a final`);
      if (reason === 'max_audio_reached') this.#expectSettled(this.#maxAudioMs);
      const isExact = this.#isAllAccepted && this.#refusals === 0 && !this.#isDraining;
      if (isExact && !mayLack) this.#expectSettled(Math.ceil(this.#audio.samples / SAMPLES_PER_MS));
      return;
    }
    const { close_code: told = null, code: why = null } = this.#fatal ?? {};
    if (told !== code || why !== reason) {
      this.#report(`closed with ${code} ${reason} after the error ${why} ${told}`);
    }
  }

  #expectSettled(ms: number): void {
    if (this.#settledMs !== ms) this.#report(`${this.#settledMs} ms are settled, not ${ms}`);
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
    const wholeSecondsMs = Math.ceil(final.end_ms / 1000) * 1000;
    const expectedMs = mayFall ? 0 : Math.min(this.#maxAudioMs, wholeSecondsMs);
    const isCheaper = this.#continues.length > 0 && final.billable_ms < expectedMs;
    if (isCheaper ? final.billable_ms % 1000 !== 0 : final.billable_ms !== expectedMs) {
      this.#report(`${final.billable_ms} ms of ${final.end_ms} are billable, not ${expectedMs}`);
    }
    this.#billableMs = final.billable_ms;
  }

  /** The words must be those of exactly this audio, and begin with the keyterms that apply. */
  #checkText(final: Final): void {
    const { utterance, text, start_ms: startMs, end_ms: endMs } = final;
    const end = this.#isAudioKnown ? this.#endOf(final) : null;
    if (end === null) {
      this.#isAudioKnown = false;
      return;
    }
    const words = this.#audio.takeUntil(end).words();
    const lists = this.#keyterms.allowed(utterance, startMs);
    const expected = lists.map((keyterms) => recognised(words, keyterms));
    const mayBeEmpty = endMs - startMs < SHORTEST_MS;
    if (!expected.includes(text) && !(text === '' && mayBeEmpty)) {
      const wanted = [...new Set(expected)].map((one) => `"${one}"`).join(' or ');
      this.#report(`final ${utterance} of ${startMs}-${endMs} ms is "${text}", not ${wanted}`);
    }
  }

  /**
   * The position where a final ends, or null if nothing says it. Its borders are whole milliseconds, except after odd frames.
   * Those are sent by clients that only speak, so the words say how many samples there were.
   */
  #endOf({ text, end_ms: endMs }: Final): number | null {
    if (!this.#hasOddFrames) return endMs * SAMPLES_PER_MS;
    const spokenSamples = parseTranscript(text).reduce((sum, { samples }) => sum + samples, 0);
    const end = this.#audio.position + spokenSamples;
    if (Math.ceil(end / SAMPLES_PER_MS) === endMs) return end;
    if (text !== '') this.#report(`a final up to ${endMs} ms has the samples up to ${end}`);
    return null;
  }

  #onDropped({
    total_audio_ms: totalMs,
    discarded_ms: discardedMs,
    billable_ms: toldMs,
  }: ServerEvent & { type: 'reset_ack' }): void {
    const reset = this.#resets.shift() ?? { flushes: 0, samples: 0 };
    const end = this.#hasOddFrames ? reset.samples : totalMs * SAMPLES_PER_MS;
    if (Math.ceil(end / SAMPLES_PER_MS) !== totalMs) this.#isAudioKnown = false;
    this.#audio.takeUntil(end);
    if (this.#flushFinals + this.#refusals < reset.flushes && !this.#isFull) {
      this.#gaveUpFinals = true;
    }
    // Rounded up, unless everything is whole milliseconds.
    const roundedMs = this.#hasOddFrames || !this.#isAudioKnown ? 1 : 0;
    if (Math.abs(this.#settledMs + discardedMs - totalMs) > roundedMs) {
      this.#report(
        `a reset dropped ${discardedMs} ms up to ${totalMs}, but ${this.#settledMs} were settled`,
      );
    }
    this.#settledMs = totalMs;
    const wholeSecondsMs = Math.ceil(totalMs / 1000) * 1000;
    this.#billableMs = toldMs ?? Math.max(this.#billableMs, wholeSecondsMs);
  }
}

function namedIn(config: string): readonly string[] {
  const { continues }: { continues: readonly string[] } = JSON.parse(config);
  return continues.flatMap((token) => readLostToken(token)?.id ?? []);
}
