import type { FinalEvent } from '@svc-asr/sdk/stream';
import {
  seconds,
  wordsOf,
  type ListenMessage,
  type Thresholds,
  type TurnEvent,
  type TurnInfo,
  type TurnWord,
} from './messages.ts';
import {
  inOrder,
  FIRST_TURN,
  onFinalLate,
  type TurnInput,
  type TurnRules,
  type TurnState,
  type TurnStep,
} from './turns.ts';

/** Turns the SDK's events into the messages of `/v2/listen`. Pure, like `turns.ts`. */

interface FluxState extends TurnState {
  readonly turn: number;
  readonly startMs: number;
  /** What was said in the turn before the current utterance. Sessions may change within a turn. */
  readonly said: Said;
  /** The newest text of the turn. */
  readonly now: Said;
  /** The text of an `EagerEndOfTurn` that nothing has followed yet. */
  readonly eager: string | null;
}

interface Said {
  readonly text: string;
  readonly words: readonly TurnWord[];
}

export interface FluxOptions {
  readonly requestId: string;
  readonly thresholds: Thresholds;
}

type Step = TurnStep<FluxState>;
const NOTHING: Said = { text: '', words: [] };
const FIRST: FluxState = {
  ...FIRST_TURN,
  turn: 0,
  startMs: 0,
  said: NOTHING,
  now: NOTHING,
  eager: null,
};

export function fluxRules(options: FluxOptions): TurnRules<FluxState> {
  return { first: FIRST, next: (state, input) => nextFluxTurn(options, state, input) };
}

function nextFluxTurn(options: FluxOptions, state: FluxState, input: TurnInput): Step {
  const turn = new Turn(options, state);
  switch (input.type) {
    case 'speech_started':
      if (input.confirmed !== false) turn.start(Math.max(input.audioMs, state.endMs));
      return turn.step({ isSpeaking: true }, [{ do: 'stop_expecting' }]);
    case 'speech_ended':
      // If nothing was recognised, no final comes unless it is asked for.
      return turn.step({ isSpeaking: false }, state.isOpen ? [{ do: 'expect_final' }] : []);
    case 'delta':
      if (input.text === '') return turn.step();
      turn.hear(saidIn(input.text), state.endMs + input.audioMs);
      if (state.isOpen) turn.update();
      else turn.start(state.endMs);
      return turn.step();
    case 'eager': {
      const { text, text_formatted = text, words, audio_ms } = input.eager;
      turn.hear({ text: text_formatted, words: timed({ words }) }, audio_ms);
      turn.start(state.endMs);
      turn.announce();
      return turn.step();
    }
    case 'resumed':
      turn.resume();
      return turn.step();
    case 'final':
      return onFinal(turn, state, input);
    case 'finished':
      if (state.isOpen) turn.end('timeout');
      return turn.step();
    case 'final_late':
      return onFinalLate(state);
    case 'quiet':
      return turn.step();
  }
}

function onFinal(turn: Turn, state: FluxState, input: Extract<TurnInput, { type: 'final' }>): Step {
  const final = inOrder(input.final, state.endMs);
  const text = final.text_formatted ?? final.text;
  turn.hear({ text, words: timed(final) }, final.end_ms);
  if (text !== '') turn.start(final.start_ms);
  const isEnd = final.reason === 'endpoint' || final.reason === 'flush';
  if (!isEnd) return turn.keep(final.end_ms);
  if (final.eager === undefined || !turn.isAsAnnounced) turn.resume();
  turn.end(input.finalizes > 0 ? 'manual' : final.reason === 'endpoint' ? 'model' : 'timeout');
  return turn.step({ endMs: final.end_ms }, [{ do: 'stop_expecting' }]);
}

/** The turn that one input changes, and the messages about it. */
class Turn {
  readonly #options: FluxOptions;
  readonly #sent: ListenMessage[] = [];
  #state: FluxState;
  #atMs: number;

  constructor(options: FluxOptions, state: FluxState) {
    this.#options = options;
    this.#state = state;
    this.#atMs = state.endMs;
  }

  get isAsAnnounced(): boolean {
    return this.#state.eager === this.#state.now.text;
  }

  hear(utterance: Said, atMs: number): void {
    const { said } = this.#state;
    this.#state = { ...this.#state, now: joined(said, utterance) };
    this.#atMs = atMs;
  }

  start(startMs: number): void {
    if (this.#state.isOpen) return;
    this.#state = { ...this.#state, isOpen: true, startMs };
    this.#send('StartOfTurn');
  }

  /** After `EagerEndOfTurn` the next message says whether it holds. */
  update(): void {
    if (this.#state.eager === null) this.#send('Update');
  }

  announce(): void {
    this.#state = { ...this.#state, eager: this.#state.now.text };
    this.#send('EagerEndOfTurn');
  }

  resume(): void {
    if (this.#state.eager === null) return;
    this.#state = { ...this.#state, eager: null };
    this.#send('TurnResumed');
  }

  end(trigger: NonNullable<TurnInfo['trigger']>): void {
    if (!this.#state.isOpen) return;
    this.#send('EndOfTurn', trigger);
    const { turn, endMs, isSpeaking } = this.#state;
    this.#state = { ...FIRST, turn: turn + 1, endMs, isSpeaking };
  }

  /** The session ends and the turn goes on in the next one. */
  keep(endMs: number): Step {
    this.#state = { ...this.#state, said: this.#state.now };
    return this.step({ endMs });
  }

  step(changes: Partial<TurnState> = {}, work: Step['work'] = []): Step {
    return { state: { ...this.#state, ...changes }, send: this.#sent, work };
  }

  #send(event: TurnEvent, trigger?: TurnInfo['trigger']): void {
    const { turn, startMs, now } = this.#state;
    const { requestId, thresholds } = this.#options;
    const { eot_threshold, eager_eot_threshold = 0 } = thresholds;
    const confidence = { EagerEndOfTurn: eager_eot_threshold, EndOfTurn: eot_threshold };
    this.#sent.push({
      type: 'TurnInfo',
      request_id: requestId,
      event,
      turn_index: turn,
      audio_window_start: seconds(startMs),
      audio_window_end: seconds(Math.max(startMs, this.#atMs)),
      transcript: now.text,
      words: now.words,
      end_of_turn_confidence:
        event === 'EagerEndOfTurn' || event === 'EndOfTurn' ? confidence[event] : 0,
      ...(trigger !== undefined && { trigger }),
    });
  }
}

function timed(said: Pick<FinalEvent, 'words' | 'entities'>): TurnWord[] {
  return wordsOf(said).map(({ punctuated_word: word, confidence, start, end }) => {
    return { word, confidence, start, end };
  });
}

function saidIn(text: string): Said {
  const words = text.split(' ').filter((word) => word !== '');
  return { text, words: words.map((word) => ({ word, confidence: 1 })) };
}

function joined(before: Said, after: Said): Said {
  const text = [before.text, after.text].filter((each) => each !== '').join(' ');
  return { text, words: [...before.words, ...after.words] };
}
