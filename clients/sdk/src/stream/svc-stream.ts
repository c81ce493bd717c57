import { connect as platformConnect } from '#socket';
import type { AsrSession, FinalEvent } from '@svc-asr/protocol';
import { SAMPLES_PER_MS } from '@svc-asr/protocol/constants.ts';
import { SvcError } from '../errors.ts';
import { wait } from '../retry.ts';
import { billed, endedByTime, type CloseInfo } from './close-info.ts';
import { Connection } from './connection.ts';
import {
  StreamEvents,
  type StreamEvent,
  type StreamListeners,
  type Unsubscribe,
} from './events.ts';
import {
  failure,
  fromClose,
  ignoreRejection,
  rejected,
  stalled,
  streamEnd,
  toSvcError,
} from './stream-errors.ts';
import { Failover } from './failover.ts';
import { LOST_MS } from './liveness.ts';
import {
  toBytes,
  toConfig,
  type AudioChunk,
  type SessionRequest,
  type StreamOptions,
} from './options.ts';
import { Receiver } from './receiver.ts';
import { ReplayBuffer } from './replay-buffer.ts';
import { Sender } from './sender.ts';
import { SessionSource } from './session-source.ts';
import type { Connect } from './socket.ts';
import type { Transcript } from './transcript.ts';
import { FINISH_MS_MAX, OPEN_MS_FIRST, OPEN_MS_LEAST, OPEN_MS_MOST } from './limits.ts';

/**
 * One stream of speech over any number of sessions. Audio since the last final is kept. When a session fails, reaches
 * its limit or goes idle, the next session receives that audio and the transcript continues.
 */
export class SvcStream implements AsyncIterable<StreamEvent> {
  /** Resolves when the stream has ended, for whatever reason. Never rejects. */
  readonly closed: Promise<CloseInfo>;
  /** Resolves when the stream takes no more audio: at `finish()`, `close()`, an abort or a failure. */
  readonly ended: Promise<void>;
  readonly #events = new StreamEvents();
  readonly #buffer = new ReplayBuffer();
  readonly #failover = new Failover();
  readonly #stop = new AbortController();
  readonly #connect: Connect;
  readonly #sessions: SessionSource;
  readonly #sender: Sender;
  readonly #receiver: Receiver;
  #connection: Connection | null = null;
  #writable: WritableStream<AudioChunk> | null = null;
  #openMsMax = OPEN_MS_FIRST;
  /** Set while the stream has no session and waits for audio. */
  #wake: (() => void) | null = null;
  /** Resolves `ended`. Null afterwards. */
  #endAudio: (() => void) | null = null;
  #end: SvcError | 'finished' | 'closed' | null = null;

  constructor(options: StreamOptions, connect: Connect = platformConnect) {
    this.#connect = connect;
    this.#buffer.keyterms = options.keyterms;
    this.ended = new Promise((resolve) => (this.#endAudio = resolve));
    this.endpointing = Boolean(options.endpointing);
    this.#sessions = new SessionSource(options, this.#failover, this.#events);
    this.#sender = new Sender(this.#buffer, this.#sessions);
    this.#receiver = new Receiver({
      buffer: this.#buffer,
      sender: this.#sender,
      sessions: this.#sessions,
      failover: this.#failover,
      events: this.#events,
      config: toConfig(options),
    });
    this.closed = this.#run();
    const { signal } = options;
    const abort = (): void => this.#endAs(failure('aborted', 'The caller aborted.'));
    if (signal?.aborted === true) abort();
    else signal?.addEventListener('abort', abort, { signal: this.#stop.signal });
  }

  /** Whether the service ends utterances when the speaker pauses. */
  readonly endpointing: boolean;

  /** Everything final so far. */
  get transcript(): Transcript {
    return this.#receiver.transcript.transcript;
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

  /** Takes any amount at any time, even before `ready`. Await it to send a fast source at the service's pace. */
  write(chunk: AudioChunk): Promise<void> {
    const bytes = toBytes(chunk);
    if (bytes === null) {
      const message = 'Write 16 kHz mono PCM as Int16Array or bytes. See AudioConverter.';
      this.#endAs(failure('invalid_audio', message));
    }
    // Audio after the last flush would be charged without a final.
    if (bytes === null || this.#endAudio === null) return this.#rejected();
    const written = this.#sender.write(bytes);
    this.#onChange();
    return written;
  }

  /** For `readable.pipeTo(stream.writable)`. Closing it calls `finish()`. */
  get writable(): WritableStream<AudioChunk> {
    this.#writable ??= new WritableStream<AudioChunk>({
      write: (chunk) => this.write(chunk),
      close: async () => void (await this.finish()),
      abort: async () => void (await this.close()),
    });
    return this.#writable;
  }

  /** Advances the transcript's time without sending audio, which costs nothing. */
  skip(ms: number): void {
    this.#buffer.skip(Math.round(ms * SAMPLES_PER_MS));
  }

  /** Ends the utterance. Resolves with its final, even across a failed session. */
  flush(): Promise<FinalEvent> {
    if (this.#end !== null) return this.#rejected();
    if (this.#wake !== null && this.#buffer.isEmpty) {
      return Promise.resolve(this.#receiver.emptyFinal());
    }
    const id = this.#buffer.newId();
    this.#buffer.flush(id);
    const final = this.#receiver.answers.wait(id);
    this.#onChange();
    return final;
  }

  /**
   * Replaces the names and words to listen for, from the next utterance on. Audio that was written before keeps its list, also
   * when it is sent later or again. `config_ack` says which are used.
   */
  setKeyterms(keyterms: readonly string[]): void {
    this.#buffer.keyterms = keyterms;
    this.#sender.pump();
  }

  /** Drops the audio since the last flush. Audio that the service accepted stays charged. */
  reset(): Promise<void> {
    if (this.#end !== null) return this.#rejected();
    const id = this.#buffer.newId();
    this.#receiver.transcript.onReset();
    if (this.#buffer.reset(id) === 'done') return Promise.resolve();
    const done = ignoreRejection(this.#receiver.answers.wait(id).then(() => undefined));
    this.#onChange();
    return done;
  }

  /**
   * Flushes and ends the stream. Audio written later is refused. Always settles: a session that neither answers nor takes audio for 10 s is
   * replaced, or if there is no `getSession` the call rejects. It also rejects when the stream gives up.
   */
  async finish(): Promise<Transcript & { readonly final: FinalEvent }> {
    const startedAt = performance.now();
    this.#takeNoMoreAudio();
    this.#failover.onFinish();
    const timer = setInterval(() => this.#failIfSilent(startedAt), FINISH_MS_MAX / 20);
    try {
      // A session that reached its audio limit has ended by itself, with everything final.
      const final = this.#end === 'finished' ? this.#receiver.emptyFinal() : await this.flush();
      this.#endAs('finished');
      await this.closed;
      return { ...this.transcript, final };
    } finally {
      clearInterval(timer);
    }
  }

  /** Ends now, without waiting for pending finals. */
  close(): Promise<CloseInfo> {
    this.#endAs('closed');
    return this.closed;
  }

  #failIfSilent(finishedAt: number): void {
    const connection = this.#connection;
    const waitedMs = performance.now() - finishedAt;
    if (connection === null || Math.min(waitedMs, connection.silentMs) < FINISH_MS_MAX) return;
    if (!this.#sessions.hasMore) {
      this.#endAs(failure('finish_timeout', 'The last final did not come. Try again.', true));
    }
    // A service that doesn't answer a flush won't answer a close frame either.
    connection.drop();
  }

  /** Runs one session after another until the stream ends. */
  async #run(): Promise<CloseInfo> {
    let why: SessionRequest['why'] = 'first';
    let close: CloseInfo | null = null;
    // Emit nothing before the caller could add listeners.
    await Promise.resolve();
    try {
      while (this.#end === null) {
        const session = await this.#sessions.next({ why, signal: this.#stop.signal });
        close = await this.#serve(session);
        if (this.#end === null) why = await this.#afterClose(close);
      }
    } catch (error) {
      this.#endAs(toSvcError(error));
    }
    return this.#settle(close);
  }

  #serve(session: AsrSession): Promise<CloseInfo> {
    this.#receiver.answerEmpty(this.#buffer.rewind());
    this.#receiver.transcript.beginSession(session.id);
    return new Promise((resolve) => {
      const connection = new Connection(session, this.#connect, {
        onEvent: (event) => this.#receiver.onEvent(connection, event),
        onStall: () => this.#reportStall(session),
        onRecovery: (ready) => this.#events.emit(ready),
        openMsMax: this.#openMsMax,
        onEnd: (info, isUnused) => {
          this.#openMsMax = nextOpenMsMax(this.#openMsMax, connection.openMs);
          this.#sessions.onEnd(session, info, isUnused);
          this.#failover.onEnd(connection.readyForMs);
          this.#connection = null;
          this.#sender.detach();
          this.#receiver.transcript.endSession(billed(info));
          resolve(info);
        },
      });
      this.#connection = connection;
      this.#sender.attach(connection);
    });
  }

  /** The user should know at once, though the stream moves on only if the stall lasts. */
  #reportStall({ id }: AsrSession): void {
    if (!this.#sessions.hasMore || this.#end !== null) return;
    this.#events.emit({
      type: 'reconnecting',
      why: 'failover',
      close: stalled(id),
      waitMs: LOST_MS,
    });
  }

  /** Waits until the next session is due. Throws when the stream ends here. */
  async #afterClose(close: CloseInfo): Promise<SessionRequest['why']> {
    const isFull = close.reason === 'max_audio_reached';
    if (!this.#sessions.hasMore) {
      if (!isFull || !this.#buffer.isEmpty) throw fromClose(close);
      this.#endAs('finished');
    }
    const handover = this.#sender.handover ?? (isFull ? 'rollover' : endedByTime(close));
    if (handover !== null) await this.#untilAudio();
    if (this.#end !== null) return 'failover';
    const waitMs =
      handover === null
        ? this.#failover.waitMsAfterClose(close)
        : this.#failover.waitMsAfterHandover();
    if (waitMs === null) throw fromClose(close);
    const why = handover ?? 'failover';
    this.#events.emit({ type: 'reconnecting', why, close, waitMs });
    await wait(waitMs, this.#stop.signal);
    return why;
  }

  /** A session without audio would time out, so the next one starts with the next audio. */
  async #untilAudio(): Promise<void> {
    if (!this.#buffer.isEmpty || this.#end !== null) return;
    await new Promise<void>((resolve) => (this.#wake = resolve));
    this.#wake = null;
  }

  #onChange(): void {
    this.#wake?.();
    this.#sender.pump();
  }

  /** Takes no more audio and opens no other session. The first end counts. */
  #endAs(end: SvcError | 'finished' | 'closed'): void {
    if (this.#end !== null) return;
    this.#end = end;
    this.#takeNoMoreAudio();
    this.#wake?.();
    this.#stop.abort(end instanceof SvcError ? end : undefined);
    this.#connection?.close();
  }

  #settle(close: CloseInfo | null): CloseInfo {
    const error = this.#end instanceof SvcError ? this.#end : null;
    const info = streamEnd(error, close);
    this.#receiver.answers.rejectAll(this.#endError());
    this.#sender.writes.rejectAll(this.#endError());
    this.#events.end(info, error);
    return info;
  }

  #takeNoMoreAudio(): void {
    this.#endAudio?.();
    this.#endAudio = null;
  }

  #rejected(): Promise<never> {
    return rejected(this.#endError());
  }

  #endError(): SvcError {
    if (this.#end instanceof SvcError) return this.#end;
    return failure('stream_closed', 'The stream is closed. Open a new one.');
  }
}

/** The next connection gets three times as long as the last one took, or twice the limit that was too short. */
function nextOpenMsMax(lastMsMax: number, openMs: number | null): number {
  const nextMsMax = openMs === null ? 2 * lastMsMax : Math.max(OPEN_MS_LEAST, 3 * openMs);
  return Math.min(OPEN_MS_MOST, nextMsMax);
}
