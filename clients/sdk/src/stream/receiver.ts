import type { FinalEvent, ServerEvent } from '@svc-asr/protocol';
import type { Config } from './options.ts';
import { SAMPLES_PER_MS } from '@svc-asr/protocol/constants.ts';
import type { SvcError } from '../errors.ts';
import type { Connection } from './connection.ts';
import type { StreamEvents } from './events.ts';
import type { Failover } from './failover.ts';
import type { Sender } from './sender.ts';
import type { ReplayBuffer, Settled } from './replay-buffer.ts';
import type { TranscriptBuilder } from './transcript.ts';
import { PendingResults } from './pending-results.ts';

interface ReceiverOptions {
  readonly buffer: ReplayBuffer;
  readonly sender: Sender;
  readonly transcript: TranscriptBuilder;
  readonly failover: Failover;
  readonly events: StreamEvents;
  /** Whether another session can follow and replay the audio. */
  readonly canReconnect: boolean;
  /** Returns the message that every session gets, or null for none. */
  readonly config: () => Config | null;
  /** The sessions whose connection was lost, as `continues` of config names them. */
  readonly lostSessions: () => readonly string[];
}

/** Handles a session's events: builds the transcript, emits events, and resolves pending flushes and resets. */
export class Receiver {
  readonly #options: ReceiverOptions;
  readonly #answers = new PendingResults<FinalEvent>();

  constructor(options: ReceiverOptions) {
    this.#options = options;
  }

  /** Resolves with the final for this flush or reset, from this session or a later one. */
  answerTo(id: number): Promise<FinalEvent> {
    return this.#answers.wait(id);
  }

  /** Resolves flushes and resets that need no answer from the service. */
  answerEmpty(ids: readonly number[]): void {
    for (const id of ids) this.#answers.resolve(id, this.emptyFinal());
  }

  end(error: SvcError): void {
    this.#answers.rejectAll(error);
  }

  /** The answer to a flush without audio. */
  emptyFinal(): FinalEvent {
    const { transcript, buffer } = this.#options;
    return transcript.emptyFinal(Math.floor(buffer.endSample / SAMPLES_PER_MS));
  }

  onEvent(connection: Connection, event: ServerEvent): void {
    const { buffer, sender, transcript, events } = this.#options;
    switch (event.type) {
      case 'turn_eager': {
        const eager = buffer.isResetPending ? null : transcript.onEager(event, connection.clock);
        if (eager !== null) events.emit(eager);
        return;
      }
      case 'turn_resumed':
        this.#resume();
        return;
      case 'ready':
        // The session before it may have left one open.
        this.#resume();
        connection.configure(this.#config());
        events.emit(event);
        sender.restartIdleTimer();
        sender.pump();
        return;
      case 'delta': {
        const delta = buffer.isResetPending ? null : transcript.onDelta(event);
        if (delta !== null) events.emit(delta);
        return;
      }
      case 'final':
        this.#onFinal(connection, event);
        return;
      case 'reset_ack': {
        transcript.onDropped(event);
        this.#resume();
        const id = buffer.settleReset();
        if (id !== null) this.answerEmpty([id]);
        return;
      }
      case 'speech_started':
      case 'speech_ended': {
        const speech = buffer.isResetPending ? null : transcript.onSpeech(event, connection.clock);
        if (speech !== null) events.emit(speech);
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
    events.emit(event);
  }

  /** Only audio that is sent again may have been charged before. */
  #config(): Config | null {
    const { config, lostSessions, buffer } = this.#options;
    const continues = lostSessions();
    if (continues.length === 0 || buffer.isEmpty) return config();
    return { ...config(), continues: [...continues] };
  }

  #resume(): void {
    const resumed = this.#options.transcript.onResumed();
    if (resumed !== null) this.#options.events.emit(resumed);
  }

  #onFinal(connection: Connection, event: FinalEvent): void {
    const { buffer, sender, transcript, failover, events, canReconnect } = this.#options;
    // Cut in mid-speech and not charged. The next session receives the whole utterance again.
    if (event.reason === 'draining' && canReconnect) {
      transcript.onDraining(event);
      return;
    }
    failover.onProgress();
    const { isResetPending } = buffer;
    const settled = this.#settle(event);
    if (settled === null) return;
    if (isResetPending) transcript.onCharged(event);
    const final = isResetPending
      ? this.emptyFinal()
      : transcript.onFinal(event, settled, connection.clock);
    if (!isResetPending) events.emit(final);
    for (const id of settled.answered) this.#answers.resolve(id, final);
    sender.onAnswered(settled.answered);
  }

  #settle(event: FinalEvent): Settled | null {
    const { buffer } = this.#options;
    if (event.reason === 'flush') return buffer.settleFlush();
    const endSample = event.end_ms * SAMPLES_PER_MS;
    return event.reason === 'endpoint' ? buffer.settleUpTo(endSample) : buffer.settleEnd(endSample);
  }
}
