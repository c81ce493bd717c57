import * as fc from 'fast-check';
import type { FinalEvent, TurnEagerEvent } from '@svc-asr/sdk/stream';
import { expect, test } from 'vitest';
import { fluxRules } from './flux-turns.ts';
import type { TurnInfo } from './messages.ts';
import { turnsBy, type TurnInput } from './turns.ts';

const TEXT = 'nĩndĩrathiĩ mũciĩ ũmũthĩ';
const THRESHOLDS = { eot_threshold: 0.7, eager_eot_threshold: 0.5, eot_timeout_ms: 5_000 };

function messagesOf(inputs: readonly TurnInput[]): TurnInfo[] {
  const turns = turnsBy(fluxRules({ requestId: 'r', thresholds: THRESHOLDS }));
  const sent = inputs.flatMap((input) => turns.next(input).send);
  return sent.filter((message) => message.type === 'TurnInfo');
}

function heard(inputs: readonly TurnInput[]): string[] {
  return messagesOf(inputs).map(({ event, turn_index, transcript, trigger }) =>
    [turn_index, event, transcript, trigger]
      .filter((part) => part !== undefined)
      .join(' ')
      .trim(),
  );
}

const started: TurnInput = { type: 'speech_started', audioMs: 100, confirmed: true };
const ended: TurnInput = { type: 'speech_ended' };
const resumed: TurnInput = { type: 'resumed' };

function delta(text: string): TurnInput {
  return { type: 'delta', text, audioMs: 400 };
}

function eager(text: string, fields: Partial<TurnEagerEvent> = {}): TurnInput {
  const words = [{ text, start_ms: 200, end_ms: 900, confidence: 0.8 }];
  const event: TurnEagerEvent = {
    type: 'turn_eager',
    utterance: 0,
    eager: 1,
    text,
    words,
    audio_ms: 1_000,
    ...fields,
  };
  return { type: 'eager', eager: event };
}

function final(text: string, fields: Partial<FinalEvent> = {}, finalizes = 0): TurnInput {
  const event: FinalEvent = {
    type: 'final',
    text,
    utterance: 0,
    reason: 'endpoint',
    start_ms: 0,
    end_ms: 1_500,
    words: text.split(' ').map((word) => ({ text: word, start_ms: 200, end_ms: 900 })),
    audio_ms: 1_500,
    total_audio_ms: 1_500,
    billable_ms: 2_000,
    ...fields,
  };
  return { type: 'final', final: event, finalizes };
}

test('a turn that was announced ends with the announced text', () => {
  expect(
    heard([started, delta('nĩndĩrathiĩ'), ended, eager(TEXT), final(TEXT, { eager: 1 })]),
  ).toEqual([
    '0 StartOfTurn',
    '0 Update nĩndĩrathiĩ',
    `0 EagerEndOfTurn ${TEXT}`,
    `0 EndOfTurn ${TEXT} model`,
  ]);
});

test('a turn that was announced with numbers as digits ends as announced', () => {
  const digits = { text_formatted: '500' };
  const said = 'magana matano';
  const numbers = heard([started, eager(said, digits), final(said, { ...digits, eager: 1 })]);
  expect(numbers).toEqual(['0 StartOfTurn', '0 EagerEndOfTurn 500', '0 EndOfTurn 500 model']);
});

test('another text takes the announcement back before the turn ends', () => {
  const announced = [started, eager('nĩndĩrathiĩ')];
  const end = [
    '0 StartOfTurn',
    '0 EagerEndOfTurn nĩndĩrathiĩ',
    `0 TurnResumed ${TEXT}`,
    `0 EndOfTurn ${TEXT} model`,
  ];
  expect(heard([...announced, final(TEXT)])).toEqual(end);
  expect(heard([...announced, final(TEXT, { eager: 1 })])).toEqual(end);
  expect(heard([...announced, resumed, delta(TEXT), final(TEXT)])).toEqual([
    '0 StartOfTurn',
    '0 EagerEndOfTurn nĩndĩrathiĩ',
    '0 TurnResumed nĩndĩrathiĩ',
    `0 Update ${TEXT}`,
    `0 EndOfTurn ${TEXT} model`,
  ]);
});

test('ForceEndTurn is a manual end; without a turn it sends nothing', () => {
  const flushed = { reason: 'flush' } as const;
  expect(heard([final('', flushed, 1), delta(TEXT), final(TEXT, flushed, 1)])).toEqual([
    `0 StartOfTurn ${TEXT}`,
    `0 EndOfTurn ${TEXT} manual`,
  ]);
});

test('a sound that only the level detector hears starts no turn until it is a text', () => {
  const sound: TurnInput = { ...started, confirmed: false };
  expect(heard([sound, ended, final('')])).toEqual([]);
  expect(heard([sound, delta('ĩĩ')])).toEqual(['0 StartOfTurn ĩĩ']);
});

test('speech without a text ends its turn, and the next turn has the next number', () => {
  expect(heard([started, ended, final('', { reason: 'flush' }), delta('ĩĩ')])).toEqual([
    '0 StartOfTurn',
    '0 EndOfTurn  timeout',
    '1 StartOfTurn ĩĩ',
  ]);
});

test('a turn goes on in the next session with the text so far', () => {
  const limit = { reason: 'session_time_limit' } as const;
  expect(heard([started, final('nĩ wega', limit), delta('mũno'), final('mũno')])).toEqual([
    '0 StartOfTurn',
    '0 Update nĩ wega mũno',
    '0 EndOfTurn nĩ wega mũno model',
  ]);
});

test('for any events, turns are numbered and ordered as Deepgram documents', () => {
  const texts = fc.constantFrom('', 'nĩ', TEXT);
  const input: fc.Arbitrary<TurnInput> = fc.oneof(
    fc.constantFrom(started, ended, resumed, { type: 'final_late' } as const),
    texts.map(delta),
    fc.constantFrom('nĩ', TEXT).map(eager),
    fc
      .tuple(texts, fc.constantFrom('endpoint', 'flush', 'session_time_limit'), fc.boolean())
      .map(([text, reason, same]) => final(text, { reason, ...(same && { eager: 1 }) })),
  );
  fc.assert(
    fc.property(fc.array(input, { maxLength: 30 }), (inputs) => {
      let [turn, isOpen, announced] = [0, false, null as string | null];
      const wrong = messagesOf(inputs).filter(({ event, turn_index, transcript }) => {
        const isRight =
          turn_index === turn &&
          isOpen === (event !== 'StartOfTurn') &&
          (event !== 'TurnResumed' || announced !== null) &&
          (event !== 'Update' || announced === null) &&
          (event !== 'EagerEndOfTurn' || transcript !== '') &&
          (event !== 'EndOfTurn' || announced === null || transcript === announced);
        isOpen = event !== 'EndOfTurn';
        turn += isOpen ? 0 : 1;
        announced = event === 'EagerEndOfTurn' ? transcript : null;
        return !isRight;
      });
      expect(wrong).toEqual([]);
    }),
  );
});
