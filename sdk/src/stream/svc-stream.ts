import type { AsrSession, FinalEvent, ServerEvent } from '@svc-asr/protocol';
import { AUDIO, LIMITS } from '@svc-asr/protocol/constants.ts';
import { isSession } from '../answers.ts';
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
import { toBytes, type AudioChunk, type SessionRequest, type StreamOptions } from './options.ts';
import { Sender } from './sender.ts';
import { Tape } from './tape.ts';
import { Stitcher, type Transcript } from './transcript.ts';
import { Waiters } from './waiters.ts';

const BYTES_PER_SECOND = AUDIO.sampleRateHz * AUDIO.bytesPerSample;
/** `write()` resolves while less than this is unsent. */
const WAITING_BYTES_MAX = 5 * BYTES_PER_SECOND;
const QUEUE_BYTES_MAX = LIMITS.audioSecondsMax * BYTES_PER_SECOND;
const FINISH_MS_MAX = 10_000;

/**
 * One stream of speech, however many sessions it takes. Audio since the last final is kept; when a session fails,
 * reaches its limit or falls idle, the next one hears that audio again and the transcript goes on as if nothing were.
 */
export class SvcStream implements AsyncIterable<StreamEvent> {
  /** Resolves when all is over, for whatever reason; never rejects. */
  readonly closed: Promise<CloseInfo>;
  readonly #options: StreamOptions;
  readonly #events = new StreamEvents();
  readonly #tape = new Tape();
  readonly #stitcher = new Stitcher();
  readonly #failover = new Failover();
  readonly #stop = new AbortController();
  readonly #answers = new Waiters<FinalEvent>();
  readonly #writers = new Waiters<void>();
  readonly #sender: Sender;
  #connection: Connection | null = null;
  #writable: WritableStream<AudioChunk> | null = null;
  #nextId = 1;
  #wake: (() => void) | null = null;
  #end: SvcError | 'finished' | 'closed' | null = null;

  constructor(options: StreamOptions) {
    if (options.session === undefined && options.getSession === undefined) {
      throw failure('missing_session', 'Give openStream a session, or getSession.');
    }
    this.#options = options;
    this.#sender = new Sender({
      tape: this.#tape,
      mayMove: options.getSession !== undefined,
      newId: () => this.#nextId++,
      onSent: () => {
        if (this.#tape.unsentBytes <= WAITING_BYTES_MAX) this.#writers.resolveAll();
      },
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
    if (this.#end !== null) return quiet(Promise.reject(this.#overError()));
    const bytes = toBytes(chunk);
    if (this.#tape.unsentBytes + bytes.byteLength > QUEUE_BYTES_MAX) {
      const message = 'Five minutes of audio are waiting already. Await write() before the next.';
      return quiet(Promise.reject(failure('queue_full', message)));
    }
    this.#tape.write(bytes);
    this.#changed();
    if (this.#tape.unsentBytes <= WAITING_BYTES_MAX) return Promise.resolve();
    return this.#writers.wait(this.#nextId++);
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
    if (this.#wake !== null && this.#tape.isEmpty) return Promise.resolve(this.#emptyFinal());
    const id = this.#nextId++;
    this.#tape.flush(id);
    const final = this.#answers.wait(id);
    this.#changed();
    return final;
  }

  /** Forgets the audio since the last flush. What the service accepted of it stays charged. */
  reset(): Promise<void> {
    if (this.#end !== null) return quiet(Promise.reject(this.#overError()));
    const id = this.#nextId++;
    this.#stitcher.onReset();
    if (this.#tape.reset(id) === 'done') return Promise.resolve();
    const done = quiet(this.#answers.wait(id).then(() => undefined));
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
      const final = this.#end === 'finished' ? this.#emptyFinal() : await this.flush();
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
        close = await this.#serve(await this.#obtain(why));
        if (this.#end === null) why = await this.#afterClose(close);
      }
    } catch (error) {
      this.#end ??= toSvcError(error);
    }
    return this.#over(close);
  }

  async #obtain(why: SessionRequest['why']): Promise<AsrSession> {
    const { session, getSession } = this.#options;
    if (why === 'first' && session !== undefined) return checked(session);
    if (getSession === undefined) throw failure('session_over', 'The session is over.');
    const { signal } = this.#stop;
    for (;;) {
      try {
        return checked(await Promise.race([getSession({ why, signal }), aborted(signal)]));
      } catch (error) {
        if (signal.aborted) throw error;
        const waitMs = this.#failover.waitMsAfterError(error);
        if (waitMs === null) throw error;
        await wait(waitMs, signal);
      }
    }
  }

  #serve(session: AsrSession): Promise<CloseInfo> {
    for (const id of this.#tape.rewind()) this.#answers.resolve(id, this.#emptyFinal());
    this.#stitcher.beginSession(session.id);
    return new Promise((resolve) => {
      const connection = new Connection(session, {
        onEvent: (event) => this.#onEvent(connection, event),
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
    if (this.#options.getSession === undefined) {
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

  #onEvent(connection: Connection, event: ServerEvent): void {
    switch (event.type) {
      case 'ready':
        if (this.#options.language !== undefined) connection.configure(this.#options.language);
        this.#events.emit(event);
        this.#sender.watchIdle();
        this.#sender.pump();
        return;
      case 'delta': {
        const delta = this.#tape.isForgotten ? null : this.#stitcher.onDelta(event);
        if (delta !== null) this.#events.emit(delta);
        return;
      }
      case 'final':
        this.#onFinal(connection, event);
        return;
      case 'reset_ack': {
        const id = this.#tape.settleReset();
        if (id !== null) this.#answers.resolve(id, this.#emptyFinal());
        return;
      }
      case 'error':
        // A fatal one is told with the close that follows it.
        if (!event.fatal) this.#events.emit(event);
        return;
      case 'status':
        this.#events.emit(event);
        return;
      case 'config_ack':
        return;
    }
  }

  #onFinal(connection: Connection, event: FinalEvent): void {
    // Cut in mid-speech and not charged: with a next session the whole utterance is heard again, uncut.
    if (event.reason === 'draining' && this.#options.getSession !== undefined) return;
    this.#failover.onProgress();
    const { isForgotten } = this.#tape;
    const settled = event.reason === 'flush' ? this.#tape.settleFlush() : this.#tape.settleSent();
    if (settled === null) return;
    const final = isForgotten
      ? this.#emptyFinal()
      : this.#stitcher.onFinal(event, settled, connection.clock);
    if (!isForgotten) this.#events.emit(final);
    for (const id of settled.answered) this.#answers.resolve(id, final);
    this.#sender.onAnswered(settled.answered);
  }

  /** For a flush when there is nothing to finish and no session to ask. */
  #emptyFinal(): FinalEvent {
    const at = Math.floor((this.#tape.endSample * 1000) / AUDIO.sampleRateHz);
    return this.#stitcher.emptyFinal(at);
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
    this.#answers.rejectAll(this.#overError());
    this.#writers.rejectAll(this.#overError());
    this.#events.end(info, error);
    return info;
  }

  #overError(): SvcError {
    if (this.#end instanceof SvcError) return this.#end;
    return failure('stream_closed', 'The stream is closed. Open a new one.');
  }
}

/** Callers in JavaScript hand over whatever their server answered. */
function checked(session: AsrSession): AsrSession {
  if (isSession(session)) return session;
  throw failure(
    'invalid_session',
    'That is no session. Hand over its JSON as the service gave it.',
  );
}

function aborted(signal: AbortSignal): Promise<never> {
  return quiet(
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    }),
  );
}
