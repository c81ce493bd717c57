import { createHash } from 'node:crypto';
import { VoiceGate, type GateOutput } from '@svc-asr/sdk/audio';
import type { FinalEvent, SvcStream } from '@svc-asr/sdk/stream';
import { mergeSends } from './merge-sends.ts';
import type { ListenMessage, ReceivedAudio } from './messages.ts';
import type { TurnInput, Turns, TurnWork } from './turns.ts';

/** How long speech that has ended waits for its final before it is asked for. */
const FINAL_WAIT_MS = 1_000;
const SAMPLES_PER_MS = 16;

export interface ListenStreamOptions {
  readonly stream: SvcStream;
  readonly silenceMs: number;
  readonly turns: Turns;
  /** Whether the rules wait for silence. */
  readonly reportsQuiet: boolean;
  /** The last messages of a stream, in order. */
  readonly lastMessages: (audio: ReceivedAudio) => readonly ListenMessage[];
  readonly send: (messages: readonly ListenMessage[]) => void;
}

/**
 * One stream of the service behind a Deepgram socket: 16 kHz audio in, Deepgram's messages out. Silence between turns is
 * not sent, so it costs nothing.
 */
export class ListenStream {
  readonly #options: ListenStreamOptions;
  readonly #stream: SvcStream;
  readonly #gate: VoiceGate;
  readonly #created = new Date().toISOString();
  readonly #sha256 = createHash('sha256');
  readonly #turns: Turns;
  /** Events since the last turn of the event loop. By then it is known which flush each final answers. */
  #inbox: TurnInput[] = [];
  /** `Finalize` messages by the final that answers them. */
  readonly #finalizes = new Map<FinalEvent, number>();
  #finalTimer: ReturnType<typeof setTimeout> | undefined;
  /** After CloseStream the rest is sent at once: LiveKit for Node stops at the next message. */
  #held: ListenMessage[] | null = null;
  #receivedSamples = 0;
  /** Whether audio was sent since the last flush. */
  #isSending = false;
  /** Flushes without a final. */
  #unanswered = 0;

  constructor(options: ListenStreamOptions) {
    this.#options = options;
    this.#stream = options.stream;
    this.#turns = options.turns;
    this.#gate = new VoiceGate({ holdMs: options.silenceMs });
    const { stream } = options;
    stream.on('speech_started', ({ audio_ms, confirmed }) =>
      this.#push({ type: 'speech_started', audioMs: audio_ms, confirmed }),
    );
    stream.on('speech_ended', () => this.#push({ type: 'speech_ended' }));
    stream.on('delta', ({ text, audio_ms }) =>
      this.#push({ type: 'delta', text, audioMs: audio_ms }),
    );
    stream.on('turn_eager', (eager) => this.#push({ type: 'eager', eager }));
    stream.on('turn_resumed', () => this.#push({ type: 'resumed' }));
    stream.on('final', (final) => this.#pushFinal(final));
    // Without a session no final can arrive.
    stream.on('reconnecting', () => clearTimeout(this.#finalTimer));
    stream.on('close', () => clearTimeout(this.#finalTimer));
  }

  /** The audio as the client sent it, for the checksum of `Metadata`. */
  onReceived(bytes: Uint8Array): void {
    this.#sha256.update(bytes);
  }

  /** Resolves when the service can take more. */
  async write(samples: Int16Array): Promise<void> {
    this.#receivedSamples += samples.length;
    const written = this.#sendAll(this.#gate.push(samples));
    // No more audio follows in which the service could find the end of the turn.
    if (!this.#gate.isOpen && this.#isSending) this.#flush();
    this.#reportQuiet();
    await written;
  }

  /** Ends the utterance now. It is answered by exactly one Results with `from_finalize`. */
  finalize(): void {
    void this.#sendAll(this.#gate.end());
    this.#isSending = false;
    this.#askForFinal((final) => this.#onFinalized(final));
  }

  /** Sends the missing finals, then `Metadata`. Rejects if the stream fails before. */
  async finish(): Promise<void> {
    const held: ListenMessage[] = [];
    this.#held = held;
    void this.#sendAll(this.#gate.end());
    await this.#stream.finish();
    this.#drain();
    const hasResults = held.some(({ type }) => type === 'Results');
    const { isOpen } = this.#turns.state;
    if (!hasResults || isOpen) this.#step({ type: 'finished', atMs: this.receivedMs });
    const audio = {
      created: this.#created,
      durationMs: this.receivedMs,
      sha256: this.#sha256.digest('hex'),
    };
    this.#options.send([...held, ...this.#options.lastMessages(audio)]);
  }

  /** How much audio the client has sent. */
  get receivedMs(): number {
    return Math.round(this.#receivedSamples / SAMPLES_PER_MS);
  }

  async #sendAll(outputs: readonly GateOutput[]): Promise<void> {
    const writes: Promise<void>[] = [];
    for (const output of mergeSends(outputs)) {
      if (output.do === 'skip') this.#stream.skip(output.ms);
      else {
        this.#isSending = true;
        writes.push(this.#stream.write(output.samples));
      }
    }
    // A failed stream closes the socket with its reason.
    await Promise.all(writes).catch(() => undefined);
  }

  #flush(): void {
    this.#isSending = false;
    this.#askForFinal(() => undefined);
  }

  #askForFinal(onFinal: (final: FinalEvent) => void): void {
    this.#unanswered += 1;
    this.#stream
      .flush()
      .then(onFinal)
      // A stream that fails reports that by itself.
      .catch(() => undefined)
      .finally(() => {
        this.#unanswered -= 1;
        this.#reportQuiet();
      });
  }

  /** While the gate is closed and every final has arrived, the client's newest audio is silence. */
  #reportQuiet(): void {
    const isQuiet = !this.#gate.isOpen && !this.#isSending && this.#unanswered === 0;
    const { lastWordEndMs } = this.#turns.state;
    const isAwaited = this.#inbox.length > 0 || lastWordEndMs !== null;
    if (isQuiet && isAwaited && this.#options.reportsQuiet) {
      this.#push({ type: 'quiet', atMs: this.receivedMs });
    }
  }

  #pushFinal(final: FinalEvent): void {
    this.#finalizes.set(final, 0);
    this.#push({ type: 'final', final, finalizes: 0 });
  }

  /** A flush of a stream without audio is answered without an event. */
  #onFinalized(final: FinalEvent): void {
    if (!this.#finalizes.has(final)) this.#pushFinal(final);
    this.#finalizes.set(final, (this.#finalizes.get(final) ?? 0) + 1);
  }

  #push(input: TurnInput): void {
    if (this.#inbox.push(input) === 1) setImmediate(() => this.#drain());
  }

  #drain(): void {
    const inputs = this.#inbox;
    this.#inbox = [];
    for (const input of inputs) {
      if (input.type !== 'final') {
        this.#step(input);
        continue;
      }
      const finalizes = this.#finalizes.get(input.final) ?? 0;
      this.#finalizes.delete(input.final);
      this.#step({ ...input, finalizes });
    }
  }

  #step(input: TurnInput): void {
    const { send, work } = this.#turns.next(input);
    for (const each of work) this.#do(each);
    if (this.#held === null) this.#options.send(send);
    // Nobody waits for interim results of a stream that ends.
    else
      this.#held.push(...send.filter((message) => message.type !== 'Results' || message.is_final));
  }

  #do(work: TurnWork): void {
    switch (work.do) {
      case 'flush':
        return this.#flush();
      case 'expect_final':
        clearTimeout(this.#finalTimer);
        this.#finalTimer = setTimeout(() => this.#push({ type: 'final_late' }), FINAL_WAIT_MS);
        return;
      case 'stop_expecting':
        return clearTimeout(this.#finalTimer);
    }
  }
}
