import * as fc from 'fast-check';
import type { FinalEvent } from '@svc-asr/sdk/stream';
import { describe, expect, test } from 'vitest';
import type { ListenMessage, Results } from './messages.ts';
import { FIRST_TURN, nextTurn, type TurnInput, type TurnOptions, type TurnState } from './turns.ts';

const OPTIONS: TurnOptions = {
  request: { requestId: 'r', model: 'svc-asr-kikuyu-v1' },
  interimResults: true,
  vadEvents: true,
  speechFinal: true,
  utteranceEndMs: 1_000,
};

interface Walk {
  readonly messages: ListenMessage[];
  readonly states: TurnState[];
  readonly work: string[];
}

function walk(inputs: readonly TurnInput[], options: Partial<TurnOptions> = {}): Walk {
  const done: Walk = { messages: [], states: [FIRST_TURN], work: [] };
  let state = FIRST_TURN;
  for (const input of inputs) {
    const step = nextTurn({ ...OPTIONS, ...options }, state, input);
    state = step.state;
    done.messages.push(...step.send);
    done.states.push(state);
    done.work.push(...step.work.map((work) => work.do));
  }
  return done;
}

function final(fields: Partial<FinalEvent>): FinalEvent {
  return {
    type: 'final',
    text: '',
    utterance: 0,
    reason: 'endpoint',
    start_ms: 0,
    end_ms: 0,
    words: [],
    audio_ms: 0,
    total_audio_ms: 0,
    billable_ms: 0,
    ...fields,
  };
}

const REASONS = ['endpoint', 'flush', 'max_audio_reached', 'session_time_limit'] as const;
const anyMs = fc.nat({ max: 60_000 });

/** Any order of events, and finals whose times overlap. */
const anyFinal: fc.Arbitrary<TurnInput> = fc
  .record({
    count: fc.nat({ max: 4 }),
    reason: fc.constantFrom(...REASONS),
    times: fc.tuple(anyMs, anyMs),
    word: fc.nat(),
    finalizes: fc.nat({ max: 3 }),
  })
  .map(({ count, reason, times, word, finalizes }) => {
    const words = Array.from({ length: count }, (_, at) => ({
      text: `w${word}x${at}`,
      start_ms: times[0] + at * 10,
      end_ms: times[0] + at * 10 + 10,
    }));
    const text = words.map((each) => each.text).join(' ');
    const [start_ms, end_ms] = [Math.min(...times), Math.max(...times)];
    const event = final({ text, words, reason, start_ms, end_ms });
    return { type: 'final', final: event, finalizes };
  });
const anyInput: fc.Arbitrary<TurnInput> = fc.oneof(
  { weight: 3, arbitrary: anyFinal },
  fc.record({ type: fc.constant('speech_started' as const), audioMs: anyMs }),
  fc.record({ type: fc.constant('speech_ended' as const) }),
  fc.record({
    type: fc.constant('delta' as const),
    text: fc.constantFrom('', 'nĩ', 'nĩ wega'),
    audioMs: anyMs,
  }),
  fc.record({ type: fc.constant('final_late' as const) }),
  fc.record({ type: fc.constant('quiet' as const), atMs: anyMs }),
);
const anyInputs = fc.array(anyInput, { maxLength: 30 });

function resultsOf(messages: readonly ListenMessage[]): Results[] {
  return messages.filter((message) => message.type === 'Results');
}

function finalsOf(messages: readonly ListenMessage[]): Results[] {
  return resultsOf(messages).filter((result) => result.is_final);
}

function wordsOf(result: Results): string[] {
  return result.channel.alternatives[0].words.map(({ word }) => word);
}

describe('whatever the order of events', () => {
  test('every word is in exactly one Results with is_final', () => {
    fc.assert(
      fc.property(anyInputs, (inputs) => {
        const spoken = inputs.flatMap((input) =>
          input.type === 'final' ? input.final.words.map(({ text }) => text) : [],
        );
        expect(finalsOf(walk(inputs).messages).flatMap(wordsOf)).toEqual(spoken);
      }),
    );
  });

  test('every Finalize is answered by exactly one Results with from_finalize', () => {
    fc.assert(
      fc.property(anyInputs, (inputs) => {
        const asked = inputs.reduce(
          (sum, input) => sum + (input.type === 'final' ? input.finalizes : 0),
          0,
        );
        const answered = resultsOf(walk(inputs).messages).filter((each) => each.from_finalize);
        expect(answered).toHaveLength(asked);
        expect(answered.every((each) => each.is_final)).toBe(true);
      }),
    );
  });

  test('times never go back and have no gaps', () => {
    fc.assert(
      fc.property(anyInputs, (inputs) => {
        let end = 0;
        const needed = inputs.filter((input) => input.type !== 'final' || input.final.text !== '');
        for (const result of finalsOf(walk(needed).messages)) {
          expect(result.start).toBeCloseTo(end, 6);
          expect(result.duration).toBeGreaterThanOrEqual(0);
          let wordEnd = result.start;
          end = result.start + result.duration - 1e-9;
          for (const word of result.channel.alternatives[0].words) {
            expect(word.start).toBeGreaterThanOrEqual(wordEnd);
            expect(word.end).toBeGreaterThanOrEqual(word.start);
            wordEnd = word.end;
          }
          expect(wordEnd).toBeLessThanOrEqual(end + 2e-9);
        }
      }),
    );
  });

  test('an open turn ends with speech_final, and nothing else has it', () => {
    fc.assert(
      fc.property(anyInputs, (inputs) => {
        const { states } = walk(inputs);
        for (const [at, input] of inputs.entries()) {
          const before = states[at] ?? FIRST_TURN;
          const { send, state } = nextTurn(OPTIONS, before, input);
          const ends = resultsOf(send).filter((each) => each.speech_final);
          const isTurnEnd =
            input.type === 'final' && ['endpoint', 'flush'].includes(input.final.reason);
          const isDue = isTurnEnd && (before.isOpen || input.final.text !== '');
          expect(ends).toHaveLength(isDue ? 1 : 0);
          expect(isTurnEnd && state.isOpen).toBe(false);
        }
      }),
    );
  });

  test('with endpointing=false no Results has speech_final', () => {
    fc.assert(
      fc.property(anyInputs, (inputs) => {
        const { messages } = walk([...inputs, { type: 'finished', atMs: 1 }], {
          speechFinal: false,
        });
        expect(resultsOf(messages).some((each) => each.speech_final)).toBe(false);
      }),
    );
  });

  test('without interim_results and vad_events only finals and UtteranceEnd are sent', () => {
    fc.assert(
      fc.property(anyInputs, (inputs) => {
        const { messages } = walk(inputs, { interimResults: false, vadEvents: false });
        expect(messages.filter(({ type }) => type === 'SpeechStarted')).toEqual([]);
        expect(resultsOf(messages)).toEqual(finalsOf(messages));
      }),
    );
  });

  test('UtteranceEnd follows a word once, after the gap in the audio', () => {
    fc.assert(
      fc.property(anyInputs, (inputs) => {
        let lastWordEnd: number | null = null;
        for (const message of walk(inputs).messages) {
          const isEnd = message.type === 'UtteranceEnd';
          expect(isEnd ? message.last_word_end : lastWordEnd).toBe(lastWordEnd);
          const words = message.type === 'Results' ? message.channel.alternatives[0].words : [];
          expect((words[0]?.start ?? 0) - (lastWordEnd ?? Infinity)).toBeLessThan(1);
          lastWordEnd = isEnd ? null : (words.at(-1)?.end ?? lastWordEnd);
        }
      }),
    );
  });
});

const STARTED = { type: 'speech_started', audioMs: 200 } as const;
const ENDED = { type: 'speech_ended' } as const;
const DELTA = { type: 'delta', text: 'nĩ we', audioMs: 900 } as const;

function finalInput(fields: Partial<FinalEvent>, finalizes = 0): TurnInput {
  return { type: 'final', final: final(fields), finalizes };
}

const WORDS = [
  { text: 'nĩ', start_ms: 300, end_ms: 500, confidence: 0.9 },
  { text: 'wega', start_ms: 600, end_ms: 1_000 },
];
const SENTENCE = { text: 'nĩ wega', words: WORDS, start_ms: 100, end_ms: 1_700, confidence: 0.8 };

test('a turn has every field that clients need', () => {
  const { messages } = walk([STARTED, DELTA, ENDED, finalInput(SENTENCE)]);
  expect(messages).toEqual([
    { type: 'SpeechStarted', channel: [0, 1], timestamp: 0.2 },
    {
      type: 'Results',
      channel_index: [0, 1],
      duration: 0.9,
      start: 0,
      is_final: false,
      speech_final: false,
      from_finalize: false,
      channel: { alternatives: [{ transcript: 'nĩ we', confidence: 1, words: [] }] },
      metadata: expect.objectContaining({ request_id: 'r' }),
    },
    {
      type: 'Results',
      channel_index: [0, 1],
      duration: 1.7,
      start: 0,
      is_final: true,
      speech_final: true,
      from_finalize: false,
      channel: {
        alternatives: [
          {
            transcript: 'nĩ wega',
            confidence: 0.8,
            words: [
              { word: 'nĩ', start: 0.3, end: 0.5, confidence: 0.9, punctuated_word: 'nĩ' },
              { word: 'wega', start: 0.6, end: 1, confidence: 1, punctuated_word: 'wega' },
            ],
          },
        ],
      },
      metadata: {
        request_id: 'r',
        model_info: { name: 'svc-asr-kikuyu-v1', version: 'v1', arch: 'svc-asr' },
        model_uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      },
    },
  ]);
});

test('speech without text ends with an empty speech_final', () => {
  const { messages, work } = walk([STARTED, ENDED, { type: 'final_late' }]);
  expect(messages.map(({ type }) => type)).toEqual(['SpeechStarted']);
  expect(work.slice(-2)).toEqual(['expect_final', 'flush']);
  const { messages: answered } = walk([STARTED, ENDED, finalInput({ reason: 'flush' })]);
  expect(answered.at(-1)).toMatchObject({ is_final: true, speech_final: true, duration: 0 });
});

test('a session at its limit does not end the turn', () => {
  const { messages } = walk([
    STARTED,
    ENDED,
    finalInput({ ...SENTENCE, reason: 'max_audio_reached' }),
  ]);
  expect(messages.at(-1)).toMatchObject({ is_final: true, speech_final: false });
});

test('the flush of a turn that has ended sends nothing', () => {
  const { messages } = walk([STARTED, finalInput(SENTENCE), finalInput({ reason: 'flush' })]);
  expect(messages).toHaveLength(2);
});

function quiet(atMs: number): TurnInput {
  return { type: 'quiet', atMs };
}

test('UtteranceEnd is sent when utterance_end_ms of audio without a word have passed', () => {
  const { messages } = walk([finalInput(SENTENCE), quiet(1_999), quiet(2_000), quiet(9_000)]);
  expect(messages.slice(1)).toEqual([{ type: 'UtteranceEnd', channel: [0, 1], last_word_end: 1 }]);
});

test.each([
  [1_999, ['Results', 'Results']],
  [2_000, ['Results', 'UtteranceEnd', 'Results']],
])('a next word at %i ms is sent after its own gap was reported', (start_ms, types) => {
  const words = [{ text: 'mũno', start_ms, end_ms: 2_500 }];
  const next = finalInput({ text: 'mũno', words, start_ms: 1_900, end_ms: 3_000 });
  const { messages } = walk([finalInput(SENTENCE), next]);
  expect(messages.map(({ type }) => type)).toEqual(types);
});

test('the last Results is sent even if it is empty', () => {
  const { messages } = walk([{ type: 'finished', atMs: 5_000 }]);
  expect(messages).toMatchObject([{ type: 'Results', is_final: true, speech_final: false }]);
});
