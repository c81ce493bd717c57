import type { FinalEvent, ServerEvent } from '@svc-asr/protocol';
import type { Config } from './options.ts';
import { SAMPLES_PER_MS } from '@svc-asr/protocol/constants.ts';
import type { Connection } from './connection.ts';
import type { StreamEvent, StreamEvents } from './events.ts';
import type { Failover } from './failover.ts';
import type { Sender } from './sender.ts';
import type { ReplayBuffer, Settled } from './replay-buffer.ts';
import { floorMs } from './session-clock.ts';
import type { SessionSource } from './session-source.ts';
import { TranscriptBuilder } from './transcript.ts';
import { PendingResults } from './pending-results.ts';
import { forgetSession } from './unused-keys.ts';

interface ReceiverOptions {
  readonly buffer: ReplayBuffer;
  readonly sender: Sender;
  readonly sessions: SessionSource;
  readonly failover: Failover;
  readonly events: StreamEvents;
  /** The message that every session gets, or null for none. */
  readonly config: Config | null;
}

/** Handles a session's events: builds the transcript, emits events, and resolves pending flushes and resets. */
export class Receiver {
  readonly transcript = new TranscriptBuilder();
  /** Of flushes and resets, from this session or a later one. */
  readonly answers = new PendingResults<FinalEvent>();
  readonly #options: ReceiverOptions;

  constructor(options: ReceiverOptions) {
    this.#options = options;
  }

  /** Resolves flushes and resets that need no answer from the service. */
  answerEmpty(ids: readonly number[]): void {
    for (const id of ids) this.answers.resolve(id, this.emptyFinal());
  }

  /** The answer to a flush without audio. */
  emptyFinal(): FinalEvent {
    return this.transcript.emptyFinal(floorMs(this.#options.buffer.endSample));
  }

  onEvent(connection: Connection, event: ServerEvent): void {
    const { buffer, sender } = this.#options;
    const { transcript } = this;
    const { clock } = connection;
    // Until the service answers a reset, it reports audio that the caller dropped.
    const isDropped = buffer.isResetPending;
    switch (event.type) {
      case 'ready':
        forgetSession(connection.session.id);
        // The session before it may have left one open.
        this.#emit(transcript.onResumed());
        this.#configure(connection);
        this.#emit(event);
        sender.onReady();
        return;
      case 'delta':
        if (!isDropped) this.#emit(transcript.onDelta(event));
        return;
      case 'turn_eager':
        if (!isDropped) this.#emit(transcript.onEager(event, clock));
        return;
      case 'speech_started':
      case 'speech_ended':
        if (!isDropped) this.#emit(transcript.onSpeech(event, clock));
        return;
      case 'turn_resumed':
        this.#emit(transcript.onResumed());
        return;
      case 'final':
        this.#onFinal(connection, event, isDropped);
        return;
      case 'reset_ack': {
        transcript.onDropped(event);
        this.#emit(transcript.onResumed());
        const id = buffer.settleReset();
        if (id !== null) this.answerEmpty([id]);
        return;
      }
      case 'config_ack':
        if (event.keyterms === undefined && event.ignored.length === 0) return;
        break;
      case 'error':
        // Fatal errors are reported with the close that follows.
        if (event.fatal) return;
        break;
      case 'status':
    }
    this.#emit(event);
  }

  #emit(event: StreamEvent | null): void {
    if (event !== null) this.#options.events.emit(event);
  }

  /** Only audio that is sent again may have been charged before. */
  #configure(connection: Connection): void {
    const { config, sessions, buffer } = this.#options;
    const { continues } = sessions;
    if (continues.length > 0 && !buffer.isEmpty) connection.configure({ ...config, continues });
    else if (config !== null) connection.configure(config);
  }

  #onFinal({ clock }: Connection, event: FinalEvent, isDropped: boolean): void {
    const { sender, sessions, failover } = this.#options;
    const { transcript } = this;
    // Cut in mid-speech and not charged. The next session receives the whole utterance again.
    if (event.reason === 'draining' && sessions.hasMore) {
      transcript.onDraining(event);
      return;
    }
    failover.onProgress();
    const settled = this.#settle(event);
    if (settled === null) return;
    if (isDropped) transcript.onCharged(event);
    const final = isDropped ? this.emptyFinal() : transcript.onFinal(event, settled, clock);
    if (!isDropped) this.#emit(final);
    for (const id of settled.answered) this.answers.resolve(id, final);
    sender.onAnswered(settled.answered);
  }

  #settle(event: FinalEvent): Settled | null {
    const { buffer } = this.#options;
    if (event.reason === 'flush') return buffer.settleFlush();
    const endSample = event.end_ms * SAMPLES_PER_MS;
    return event.reason === 'endpoint' ? buffer.settleUpTo(endSample) : buffer.settleEnd(endSample);
  }
}
