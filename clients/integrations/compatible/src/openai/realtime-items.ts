import type { ItemEvent } from './realtime-events.ts';

/** A turn of speech: OpenAI calls it a conversation item. */
interface Item {
  readonly id: string;
  /** The client committed it: only the final of that commit completes it. */
  isCommitted: boolean;
  isSpeaking: boolean;
  /** Text that finals have settled. */
  transcript: string;
  /** Everything sent as deltas, which clients append. */
  sent: string;
  startMs: number | null;
}

export interface FinalOfItem {
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  /** How many commits this final answers. */
  readonly commits: number;
  /** Whether it ends the turn without a commit: the speaker paused, or the audio is over. */
  readonly endsTurn: boolean;
}

/**
 * Turns a stream's events into the events of OpenAI's items. Every commit gets exactly one `completed`, in order. Deltas
 * hold stable text only, so that those of an item form the beginning of its transcript.
 */
export class RealtimeItems {
  /** Unfinished items in order. All but the last are committed. */
  readonly #open: Item[] = [];
  readonly #newId: () => string;
  readonly #hasTurnEvents: () => boolean;
  #previousId: string | null = null;
  /** Where the last turn ended. */
  #endMs = 0;

  constructor(input: {
    readonly newId: () => string;
    /** Whether the client wants to hear when speech starts and stops. */
    readonly hasTurnEvents: () => boolean;
  }) {
    this.#newId = input.newId;
    this.#hasTurnEvents = input.hasTurnEvents;
  }

  /** Commits that wait for their final. */
  get commitsPending(): number {
    return this.#open.filter((item) => item.isCommitted).length;
  }

  commit(): ItemEvent[] {
    const last = this.#open.at(-1);
    const item = last === undefined || last.isCommitted ? this.#add() : last;
    item.isCommitted = true;
    return [this.#committed(item)];
  }

  /** Drops the turn that was not committed. */
  clear(): void {
    if (this.#open.at(-1)?.isCommitted === false) this.#open.pop();
  }

  speechStarted(audioMs: number): ItemEvent[] {
    // After a flush the service may report the start of speech that the flush has ended.
    if (!this.#hasTurnEvents() || audioMs < this.#endMs) return [];
    const item = this.#first();
    if (item.isSpeaking) return [];
    item.isSpeaking = true;
    item.startMs ??= audioMs;
    return [{ type: 'speech_started', itemId: item.id, audioMs }];
  }

  speechEnded(audioMs: number): ItemEvent[] {
    const item = this.#open[0];
    if (item === undefined || !item.isSpeaking) return [];
    item.isSpeaking = false;
    return [{ type: 'speech_stopped', itemId: item.id, audioMs }];
  }

  /** `stableText` is the part of the current utterance that won't change. */
  delta(stableText: string): ItemEvent[] {
    const stable = stableText.trimEnd();
    if (stable === '') return [];
    const item = this.#first();
    return grow(item, joined(item.transcript, stable));
  }

  final(final: FinalOfItem): ItemEvent[] {
    const text = final.text.trim();
    if (final.commits === 0 && text === '' && this.#open.length === 0) return [];
    const item = this.#first();
    item.transcript = joined(item.transcript, text);
    if (final.commits === 0 && (item.isCommitted || !final.endsTurn)) {
      return grow(item, item.transcript);
    }
    const events = this.#endTurn(item, final);
    // One final can answer several commits. Those behind the first committed no more audio.
    for (let left = final.commits; left > 1; left -= 1) {
      events.push(...this.#endTurn(this.#first(), { ...final, startMs: final.endMs }));
    }
    return events;
  }

  /** The stream failed: commits without a final get no transcript. */
  fail(error: { readonly code: string; readonly message: string }): ItemEvent[] {
    const failed = this.#open.splice(0).filter((item) => item.isCommitted);
    return failed.map(({ id }) => ({ ...error, type: 'failed', itemId: id }));
  }

  #endTurn(item: Item, { startMs, endMs }: FinalOfItem): ItemEvent[] {
    const events: ItemEvent[] = [];
    if (!item.isCommitted) {
      if (item.startMs === null) events.push(...this.speechStarted(startMs));
      events.push(...this.speechEnded(endMs), this.#committed(item));
    } else events.push(...this.speechEnded(endMs));
    events.push(...grow(item, item.transcript), {
      type: 'completed',
      itemId: item.id,
      transcript: item.transcript,
      audioMs: Math.max(0, endMs - (item.startMs ?? startMs)),
    });
    this.#open.shift();
    this.#endMs = endMs;
    return events;
  }

  #committed(item: Item): ItemEvent {
    const previousId = this.#previousId;
    this.#previousId = item.id;
    return { type: 'committed', itemId: item.id, previousId };
  }

  #first(): Item {
    return this.#open[0] ?? this.#add();
  }

  #add(): Item {
    const item: Item = {
      id: this.#newId(),
      isCommitted: false,
      isSpeaking: false,
      transcript: '',
      sent: '',
      startMs: null,
    };
    this.#open.push(item);
    return item;
  }
}

/** Sends what is new. Text that a new session recognised differently waits for `completed`. */
function grow(item: Item, text: string): ItemEvent[] {
  if (text.length <= item.sent.length || !text.startsWith(item.sent)) return [];
  const delta = text.slice(item.sent.length);
  item.sent = text;
  return [{ type: 'delta', itemId: item.id, delta }];
}

function joined(before: string, after: string): string {
  return before === '' || after === '' ? before + after : `${before} ${after}`;
}
