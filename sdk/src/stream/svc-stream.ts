import type { AsrSession, FinalEvent } from '@svc-asr/protocol';
import { AUDIO } from '@svc-asr/protocol/constants.ts';
import { SvcError } from '../errors.ts';
import { wait } from '../retry.ts';
import { billed, type CloseInfo } from './close-info.ts';
import { Connection } from './connection.ts';
import {
  StreamEvents,
  type StreamEvent,
  type StreamListeners,
  type Unsubscribe,
} from './events.ts';
import {
  completed,
  endedBy,
  failure,
  fromClose,
  NEVER_OPENED,
  quiet,
  toSvcError,
} from './failures.ts';
import { Failover } from './failover.ts';
import { Intake } from './intake.ts';
import { toBytes, type AudioChunk, type SessionRequest, type StreamOptions } from './options.ts';
import { Receiver } from './receiver.ts';
import { Sender } from './sender.ts';
import { SessionSource } from './session-source.ts';
import { Tape } from './tape.ts';
import { Stitcher, type Transcript } from './transcript.ts';

const FINISH_MS_MAX = 10_000;
const NOT_PCM =
  'Write 16 kHz mono PCM as Int16Array or bytes. AudioConverter of @svc-asr/sdk/audio makes it from other audio.';

/**
 * One stream of speech, however many sessions it takes. Audio since the last final is kept; when a session fails,
 * reaches its limit or falls idle, the next one hears that audio again and the transcript goes on as if nothing were.
 */
export class SvcStream implements AsyncIterable<StreamEvent> {
  /** Resolves when all is over, for whatever reason; never rejects. */
  readonly closed: Promise<CloseInfo>;
  readonly #events = new StreamEvents();
  readonly #tape = new Tape();
  readonly #stitcher = new Stitcher();
  readonly #failover = new Failover();
  readonly #stop = new AbortController();
  readonly #sessions: SessionSource;
  readonly #intake: Intake;
  readonly #sender: Sender;
  readonly #receiver: Receiver;
  #connection: Connection | null = null;
  #writable: WritableStream<AudioChunk> | null = null;
  #nextId = 1;
  #wake: (() => void) | null = null;
  #end: SvcError | 'finished' | 'closed' | null = null;

  constructor(options: StreamOptions) {
    this.#sessions = new SessionSource(options, this.#failover);
    this.#intake = new Intake(this.#tape, () => this.#changed());
    this.#sender = new Sender({
      tape: this.#tape,
      mayMove: this.#sessions.hasMore,
      newId: () => this.#nextId++,
      onSent: () => this.#intake.onSent(),
    });
    this.#receiver = new Receiver({
      tape: this.#tape,
      sender: this.#sender,
      stitcher: this.#stitcher,
      failover: this.#failover,
      events: this.#events,
      mayMove: this.#sessions.hasMore,
      language: options.language,
    });
    this.closed = this.#run();
    const { signal } = options;
    const abort = (): void => this.#fail(failure('aborted', 'The caller aborted the stream.'));
    if (signal?.aborted === true) abort();
    else signal?.addEventListener('abort', abort, { signal: this.#stop.signal });
  }

  /** All that is final so far. */
  get transcript(): Transcript {
    return this.#stitcher.transcript;
  }

  get sessionId(): string | null {
    return this.#connection?.session.id ?? null;
  }

  on<K extends keyof StreamListeners>(
    type: K,
    listener: (value: StreamListeners[K]) => void,
  ): Unsubscribe {
    return this.#events.on(type, listener);
  }

  [Symbol.asyncIterator](): AsyncIterator<StreamEvent, undefined> {
    return this.#events.iterate();
  }

  /** Takes any amount at any time, before `ready` too. Await it, and a fast source keeps the service's pace. */
  write(chunk: AudioChunk): Promise<void> {
    const bytes = toBytes(chunk);
    if (bytes === null) this.#fail(failure('invalid_audio', NOT_PCM));
    if (bytes === null || this.#end !== null) return quiet(Promise.reject(this.#overError()));
    return this.#intake.write(bytes);
  }

  /** For `readable.pipeTo(stream.writable)`; closing it is `finish()`. */
  get writable(): WritableStream<AudioChunk> {
    this.#writable ??= new WritableStream<AudioChunk>({
      write: (chunk) => this.write(chunk),
      close: async () => void (await this.finish()),
      abort: async () => void (await this.close()),
    });
    return this.#writable;
  }

  /** Time passed in which nothing is sent: it costs nothing, and the transcript's times stay true. */
  skip(ms: number): void {
    this.#tape.skip(Math.round((ms * AUDIO.sampleRateHz) / 1000));
  }

  /** Ends the utterance. Resolves with its final, also across a failure of the session. */
  flush(): Promise<FinalEvent> {
    if (this.#end !== null) return quiet(Promise.reject(this.#overError()));
    if (this.#wake !== null && this.#tape.isEmpty)
      return Promise.resolve(this.#receiver.emptyFinal());
    const id = this.#nextId++;
    this.#tape.flush(id);
    const final = this.#receiver.answerTo(id);
    this.#changed();
    return final;
  }

  /** Forgets the audio since the last flush. What the service accepted of it stays charged. */
  reset(): Promise<void> {
    if (this.#end !== null) return quiet(Promise.reject(this.#overError()));
    const id = this.#nextId++;
    this.#stitcher.onReset();
    if (this.#tape.reset(id) === 'done') return Promise.resolve();
    const done = quiet(this.#receiver.answerTo(id).then(() => undefined));
    this.#changed();
    return done;
  }

  /** The last flush, and then the end. Rejects after 10 s in which the service neither answers nor takes audio. */
  async finish(): Promise<Transcript & { readonly final: FinalEvent }> {
    const watch = setInterval(() => {
      const connection = this.#connection;
      if (connection === null || connection.ready === null || !this.#tape.isSent) return;
      if (connection.silentMs < FINISH_MS_MAX) return;
      this.#fail(failure('finish_timeout', 'The last final did not come. Try again.', true));
      // Who does not answer that does not answer a goodbye either.
      connection.drop();
    }, FINISH_MS_MAX / 20);
    try {
      // A session that was used up to its limit has ended by itself, with everything final.
      const final = this.#end === 'finished' ? this.#receiver.emptyFinal() : await this.flush();
      this.#leave('finished');
      await this.closed;
      return { ...this.transcript, final };
    } finally {
      clearInterval(watch);
    }
  }

  /** Ends now, without waiting for what is not final yet. */
  close(): Promise<CloseInfo> {
    this.#leave('closed');
    return this.closed;
  }

  /** One session after the other until the stream's end. */
  async #run(): Promise<CloseInfo> {
    let why: SessionRequest['why'] = 'first';
    let close = NEVER_OPENED;
    // The caller's listeners are added after the constructor; nothing may be told before.
    await Promise.resolve();
    try {
      while (this.#end === null) {
        const { signal } = this.#stop;
        close = await this.#serve(await this.#sessions.next({ why, signal }));
        if (this.#end === null) why = await this.#afterClose(close);
      }
    } catch (error) {
      this.#end ??= toSvcError(error);
    }
    return this.#over(close);
  }

  #serve(session: AsrSession): Promise<CloseInfo> {
    this.#receiver.answerEmpty(this.#tape.rewind());
    this.#stitcher.beginSession(session.id);
    return new Promise((resolve) => {
      const connection = new Connection(session, {
        onEvent: (event) => this.#receiver.onEvent(connection, event),
        onEnd: (info) => {
          this.#failover.onEnd(connection.readyForMs);
          this.#connection = null;
          this.#sender.detach();
          this.#stitcher.endSession(billed(info));
          resolve(info);
        },
      });
      this.#connection = connection;
      this.#sender.attach(connection);
    });
  }

  /** Whether and when a next session follows; throws when the stream ends here. */
  async #afterClose(close: CloseInfo): Promise<SessionRequest['why']> {
    const isFull = close.reason === 'max_audio_reached';
    if (!this.#sessions.hasMore) {
      if (!isFull || !this.#tape.isEmpty) throw fromClose(close);
      this.#end = 'finished';
    }
    const move = this.#sender.move ?? (isFull ? 'rollover' : null);
    if (move !== null) {
      await this.#somethingToSay();
      this.#events.emit({ type: 'reconnecting', why: move, close, waitMs: 0 });
      return move;
    }
    const waitMs = close.retryable ? this.#failover.waitMsAfterClose(close) : null;
    if (waitMs === null) throw fromClose(close);
    this.#events.emit({ type: 'reconnecting', why: 'failover', close, waitMs });
    await wait(waitMs, this.#stop.signal);
    return 'failover';
  }

  /** A session without audio would idle: the next one begins with the next word. */
  async #somethingToSay(): Promise<void> {
    if (!this.#tape.isEmpty || this.#end !== null) return;
    await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#wake = null;
  }

  #changed(): void {
    this.#wake?.();
    this.#sender.pump();
  }

  #leave(how: 'finished' | 'closed'): void {
    if (this.#end !== null) return;
    this.#end = how;
    this.#wake?.();
    if (this.#connection === null) this.#stop.abort();
    else this.#connection.close();
  }

  #fail(error: SvcError): void {
    if (this.#end !== null) return;
    this.#end = error;
    this.#wake?.();
    this.#stop.abort(error);
    this.#connection?.close();
  }

  #over(close: CloseInfo): CloseInfo {
    const error = this.#end instanceof SvcError ? this.#end : null;
    const info = error === null ? completed(close) : endedBy(error, close);
    this.#stop.abort();
    this.#receiver.end(this.#overError());
    this.#intake.end(this.#overError());
    this.#events.end(info, error);
    return info;
  }

  #overError(): SvcError {
    if (this.#end instanceof SvcError) return this.#end;
    return failure('stream_closed', 'The stream is closed. Open a new one.');
  }
}
