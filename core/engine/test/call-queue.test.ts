import { expect, test } from 'vitest';
import { CallQueue, type HeldCall } from '../src/call-queue.ts';

const audio = (number: number): HeldCall<number> => ({ do: 'audio', audio: number });
const FLUSH = { do: 'flush' } as const;
const RESET = { do: 'reset' } as const;
const TERMS = { do: 'expect', keyterms: ['wanjirũ'] } as const;

function queueOf(...calls: HeldCall<number>[]): CallQueue<number> {
  const queue = new CallQueue<number>();
  for (const call of calls) queue.add(call);
  return queue;
}

function made(queue: CallQueue<number>): HeldCall<number>[] {
  const calls: HeldCall<number>[] = [];
  queue.advance((call) => calls.push(call) > 0);
  return calls;
}

test('calls are made in order, and one that cannot be made yet stays first', () => {
  const queue = queueOf(audio(1), FLUSH, audio(2));
  queue.advance((call) => call.do === 'audio');
  expect(made(queue)).toEqual([FLUSH, audio(2)]);
  expect(queue.length).toBe(0);
});

test('a reset drops the audio that no flush or reset follows, and keeps keyterms', () => {
  const queue = queueOf(audio(1), FLUSH, audio(2), TERMS, audio(3));
  expect(queue.dropUnflushed()).toEqual([2, 3]);
  expect(made(queue)).toEqual([audio(1), FLUSH, TERMS]);
  const resetTwice = queueOf(audio(1), RESET, audio(2));
  expect(resetTwice.dropUnflushed()).toEqual([2]);
  expect(made(resetTwice)).toEqual([audio(1), RESET]);
});

test('only the last call counts as the last audio', () => {
  expect(queueOf(audio(1), audio(2)).lastAudio).toBe(2);
  expect(queueOf(audio(1), FLUSH).lastAudio).toBeNull();
});

test('clearing returns all audio and leaves nothing', () => {
  const queue = queueOf(audio(1), FLUSH, audio(2));
  expect(queue.clear()).toEqual([1, 2]);
  expect(queue.length).toBe(0);
});
