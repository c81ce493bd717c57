import type { FinalEvent, ServerEvent } from '@svc-asr/protocol';
import { AUDIO } from '@svc-asr/protocol/constants.ts';
import type { SvcError } from '../errors.ts';
import type { Connection } from './connection.ts';
import type { StreamEvents } from './events.ts';
import type { Failover } from './failover.ts';
import type { Sender } from './sender.ts';
import type { Tape } from './tape.ts';
import type { Stitcher } from './transcript.ts';
import { Waiters } from './waiters.ts';

interface ReceiverOptions {
  readonly tape: Tape;
  readonly sender: Sender;
  readonly stitcher: Stitcher;
  readonly failover: Failover;
  readonly events: StreamEvents;
  /** Whether there can be a next session to hear it all again. */
  readonly mayMove: boolean;
  readonly language: string | undefined;
}

/** Takes in what a session says: as one transcript in the caller's time, to whoever asked for it. */
export class Receiver {
  readonly #options: ReceiverOptions;
  readonly #answers = new Waiters<FinalEvent>();

  constructor(options: ReceiverOptions) {
    this.#options = options;
  }

  /** The final for a flush or reset of this number, from this session or a later one. */
  answerTo(id: number): Promise<FinalEvent> {
    return this.#answers.wait(id);
  }

  /** Nothing has to be heard for these any more. */
  answerEmpty(ids: readonly number[]): void {
    for (const id of ids) this.#answers.resolve(id, this.emptyFinal());
  }

  end(error: SvcError): void {
    this.#answers.rejectAll(error);
  }

  /** For a flush when there is nothing to finish and no session to ask. */
  emptyFinal(): FinalEvent {
    const { stitcher, tape } = this.#options;
    return stitcher.emptyFinal(Math.floor((tape.endSample * 1000) / AUDIO.sampleRateHz));
  }

  onEvent(connection: Connection, event: ServerEvent): void {
    const { tape, sender, stitcher, events, language } = this.#options;
    switch (event.type) {
      case 'ready':
        if (language !== undefined) connection.configure(language);
        events.emit(event);
        sender.watchIdle();
        sender.pump();
        return;
      case 'delta': {
        const delta = tape.isForgotten ? null : stitcher.onDelta(event);
        if (delta !== null) events.emit(delta);
        return;
      }
      case 'final':
        this.#onFinal(connection, event);
        return;
      case 'reset_ack': {
        const id = tape.settleReset();
        if (id !== null) this.answerEmpty([id]);
        return;
      }
      case 'error':
        // A fatal one is told with the close that follows it.
        if (!event.fatal) events.emit(event);
        return;
      case 'status':
        events.emit(event);
        return;
      case 'config_ack':
        return;
    }
  }

  #onFinal(connection: Connection, event: FinalEvent): void {
    const { tape, sender, stitcher, failover, events, mayMove } = this.#options;
    // Cut in mid-speech and not charged: with a next session the whole utterance is heard again, uncut.
    if (event.reason === 'draining' && mayMove) return;
    failover.onProgress();
    const { isForgotten } = tape;
    const settled = event.reason === 'flush' ? tape.settleFlush() : tape.settleSent();
    if (settled === null) return;
    const final = isForgotten
      ? this.emptyFinal()
      : stitcher.onFinal(event, settled, connection.clock);
    if (!isForgotten) events.emit(final);
    for (const id of settled.answered) this.#answers.resolve(id, final);
    sender.onAnswered(settled.answered);
  }
}
