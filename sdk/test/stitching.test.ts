import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FinalEvent } from '@svc-asr/protocol';
import { SessionClock } from '../src/stream/session-clock.ts';
import { Tape, type Settled } from '../src/stream/tape.ts';
import { Stitcher } from '../src/stream/transcript.ts';
import { ModelSession, SAMPLES_PER_MS } from './model-session.ts';

type Step =
  | { readonly do: 'write'; readonly ms: number }
  | { readonly do: 'skip'; readonly ms: number }
  | { readonly do: 'flush' }
  | { readonly do: 'reset' }
  | { readonly do: 'send'; readonly entries: number }
  | { readonly do: 'deliver'; readonly events: number }
  | { readonly do: 'fail' };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('write'), ms: fc.integer({ min: 1, max: 9 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('skip'), ms: fc.integer({ min: 1, max: 9 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('flush') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reset') }) },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('send'), entries: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('deliver'), events: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('fail') }) },
);

/** A caller, its tape, and one model session after another: the same moves as the stream makes, without a network. */
class History {
  readonly tape = new Tape();
  readonly stitcher = new Stitcher();
  readonly answered: number[] = [];
  readonly #limitMs: number;
  #session: ModelSession;
  #clock = new SessionClock();
  #nextId = 1;
  #nextWord = 1;
  #atMs = 0;
  /** Where each word was written that is still to be heard, or was. */
  written = new Map<string, number>();
  #sinceFlush: string[] = [];
  asked: number[] = [];

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
    this.#session = this.#begin();
  }

  take(step: Step): void {
    switch (step.do) {
      case 'write':
        return this.#write(step.ms);
      case 'skip':
        this.#atMs += step.ms;
        return this.tape.skip(step.ms * SAMPLES_PER_MS);
      case 'flush':
        this.#sinceFlush = [];
        this.asked.push(this.#nextId);
        return this.tape.flush(this.#nextId++);
      case 'reset':
        for (const word of this.#sinceFlush) this.written.delete(word);
        this.#sinceFlush = [];
        this.asked.push(this.#nextId);
        if (this.tape.reset(this.#nextId) === 'done') this.answered.push(this.#nextId);
        this.#nextId += 1;
        return undefined;
      case 'send':
        for (let sent = 0; sent < step.entries; sent += 1) this.#send();
        return undefined;
      case 'deliver':
        for (let told = 0; told < step.events; told += 1) this.#deliver();
        return undefined;
      case 'fail':
        this.#session = this.#begin();
        return undefined;
    }
  }

  /** A last flush, and everything comes through. */
  finish(): void {
    this.take({ do: 'flush' });
    for (let round = 0; !this.tape.isEmpty; round += 1) {
      if (round > 10_000) throw new Error('It never ends.');
      this.#send();
      this.#deliver();
    }
  }

  #begin(): ModelSession {
    this.answered.push(...this.tape.rewind());
    this.#clock = new SessionClock();
    this.stitcher.beginSession(`session ${this.#nextId}`);
    return new ModelSession(this.#limitMs);
  }

  #write(ms: number): void {
    const samples = new Int16Array(ms * SAMPLES_PER_MS);
    for (let at = 0; at < ms; at += 1) {
      const word = this.#nextWord++;
      samples[at * SAMPLES_PER_MS] = word;
      this.written.set(String(word), this.#atMs++);
      this.#sinceFlush.push(String(word));
    }
    this.tape.write(new Uint8Array(samples.buffer));
  }

  #send(): void {
    if (this.#session.samplesLeft === 0) return;
    const entry = this.tape.next(this.#session.samplesLeft);
    if (entry === undefined) return;
    if (entry.kind === 'audio') this.#clock.hear(entry.at, entry.pcm.byteLength / 2);
    this.#session.hear(entry);
  }

  #deliver(): void {
    const event = this.#session.events.shift();
    if (event === undefined) return;
    if (event.type === 'reset_ack') {
      const id = this.tape.settleReset();
      if (id !== null) this.answered.push(id);
      return;
    }
    this.#onFinal(event);
  }

  /** What a final has said, also one that came because a session was full, no later reset takes back. */
  #hear(event: FinalEvent, settled: Settled): void {
    this.stitcher.onFinal(event, settled, this.#clock);
    const heard = new Set(event.words.map((word) => word.text));
    this.#sinceFlush = this.#sinceFlush.filter((word) => !heard.has(word));
  }

  #onFinal(event: FinalEvent): void {
    const limit = event.reason === 'max_audio_reached';
    const { isForgotten } = this.tape;
    const settled = limit ? this.tape.settleSent() : this.tape.settleFlush();
    if (settled !== null) {
      if (!isForgotten) this.#hear(event, settled);
      this.answered.push(...settled.answered);
    }
    if (limit) this.#session = this.#begin();
  }
}

test('whatever fails, every word is heard once, in order, at its time, and every flush is answered once', () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 80 }),
      fc.integer({ min: 5, max: 200 }),
      (steps, limitMs) => {
        const history = new History(limitMs);
        for (const each of steps) history.take(each);
        history.finish();
        const { words, text } = history.stitcher.transcript;
        expect(words.map((word) => [word.text, word.start_ms])).toEqual([...history.written]);
        expect(text).toBe([...history.written.keys()].join(' '));
        for (const word of words) expect(word.end_ms).toBe(word.start_ms + 1);
        expect(history.answered.toSorted((a, b) => a - b)).toEqual(history.asked);
      },
    ),
    { numRuns: 3_000 },
  );
});

test('a delta that the caller has seen already is not shown again after a failure', () => {
  const stitcher = new Stitcher();
  const delta = { type: 'delta', utterance: 0, stable_chars: 0 } as const;
  expect(stitcher.onDelta({ ...delta, text: 'nĩ', audio_ms: 1_120 })).toMatchObject({ text: 'nĩ' });
  expect(stitcher.onDelta({ ...delta, text: 'nĩ wega', audio_ms: 2_240 })).not.toBeNull();
  // The next session hears the utterance from its start.
  expect(stitcher.onDelta({ ...delta, text: 'nĩ', audio_ms: 1_120 })).toBeNull();
  expect(stitcher.onDelta({ ...delta, text: 'nĩ wega', audio_ms: 2_240 })).not.toBeNull();
  expect(stitcher.onDelta({ ...delta, text: 'nĩ wega mũno', audio_ms: 3_360 })).not.toBeNull();
});

test('a receipt of a failed session is nothing, of a lost one unknown', () => {
  const stitcher = new Stitcher();
  const clock = new SessionClock();
  const final = new ModelSession(10);
  final.hear({ kind: 'audio', at: 0, pcm: new Uint8Array(32) });
  final.hear({ kind: 'flush', id: 1 });
  const [event] = final.events;
  if (event?.type !== 'final') throw new Error('no final');
  for (const billed of ['as_told', 'nothing', 'unknown'] as const) {
    stitcher.beginSession(billed);
    stitcher.onFinal(event, { answered: [1], startSample: 0, endSample: 16 }, clock);
    stitcher.endSession(billed);
  }
  expect(stitcher.transcript.sessions.map((session) => session.billableMs)).toEqual([
    1_000,
    0,
    null,
  ]);
});

test('times are to the millisecond those of one session, though utterances begin inside a millisecond', () => {
  const samples = [1_003, 2_010, 777];
  function finals(failBefore: number | null) {
    const tape = new Tape();
    const stitcher = new Stitcher();
    let clock = new SessionClock();
    let heard = 0;
    stitcher.beginSession('a');
    for (const [at, count] of samples.entries()) {
      if (at === failBefore) {
        tape.rewind();
        clock = new SessionClock();
        heard = 0;
      }
      tape.write(new Uint8Array(count * 2));
      tape.flush(at);
      for (let entry = tape.next(); entry !== undefined; entry = tape.next()) {
        if (entry.kind === 'audio') clock.hear(entry.at, entry.pcm.byteLength / 2);
      }
      const start = Math.floor(heard / SAMPLES_PER_MS);
      heard += count;
      const end = Math.ceil(heard / SAMPLES_PER_MS);
      const word = { text: 'x', start_ms: start + 20, end_ms: start + 40 };
      const settled = tape.settleFlush();
      if (settled === null) throw new Error('The flush was sent.');
      const event: FinalEvent = {
        type: 'final',
        text: 'x',
        utterance: at,
        reason: 'flush',
        start_ms: start,
        end_ms: end,
        words: [word],
        audio_ms: end - start,
        total_audio_ms: end,
        billable_ms: 1_000,
      };
      stitcher.onFinal(event, settled, clock);
    }
    return stitcher.transcript.finals.map(({ start_ms, end_ms, words }) => [
      start_ms,
      end_ms,
      words,
    ]);
  }
  const undisturbed = finals(null);
  expect(finals(1)).toEqual(undisturbed);
  expect(finals(2)).toEqual(undisturbed);
});
