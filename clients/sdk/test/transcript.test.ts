import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FinalEvent } from '@svc-asr/protocol';
import { SessionClock } from '../src/stream/session-clock.ts';
import { ReplayBuffer, type Settled } from '../src/stream/replay-buffer.ts';
import { TranscriptBuilder } from '../src/stream/transcript.ts';
import { SimulatedSession, SAMPLES_PER_MS } from './simulated-session.ts';

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

/** A caller, its replay buffer and successive simulated sessions: the same steps as a stream, without a network. */
class History {
  readonly buffer = new ReplayBuffer();
  readonly transcript = new TranscriptBuilder();
  readonly answered: number[] = [];
  readonly #limitMs: number;
  readonly #endpointEveryMs: number;
  #session: SimulatedSession;
  #clock = new SessionClock();
  #nextId = 1;
  #nextWord = 1;
  #atMs = 0;
  /** The position of each written word. */
  written = new Map<string, number>();
  #sinceFlush: string[] = [];
  asked: number[] = [];

  constructor(limitMs: number, endpointEveryMs: number) {
    this.#limitMs = limitMs;
    this.#endpointEveryMs = endpointEveryMs;
    this.#session = this.#begin();
  }

  take(step: Step): void {
    switch (step.do) {
      case 'write':
        return this.#write(step.ms);
      case 'skip':
        this.#atMs += step.ms;
        return this.buffer.skip(step.ms * SAMPLES_PER_MS);
      case 'flush':
        this.#sinceFlush = [];
        this.asked.push(this.#nextId);
        return this.buffer.flush(this.#nextId++);
      case 'reset':
        for (const word of this.#sinceFlush) this.written.delete(word);
        this.#sinceFlush = [];
        this.asked.push(this.#nextId);
        if (this.buffer.reset(this.#nextId) === 'done') this.answered.push(this.#nextId);
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

  /** Flushes and delivers everything. */
  finish(): void {
    this.take({ do: 'flush' });
    for (let round = 0; !this.buffer.isEmpty; round += 1) {
      if (round > 10_000) throw new Error('The simulation does not terminate.');
      this.#send();
      this.#deliver();
    }
  }

  #begin(): SimulatedSession {
    this.answered.push(...this.buffer.rewind());
    this.#clock = new SessionClock();
    this.transcript.beginSession(`session ${this.#nextId}`);
    return new SimulatedSession(this.#limitMs, this.#endpointEveryMs);
  }

  #write(ms: number): void {
    const samples = new Int16Array(ms * SAMPLES_PER_MS);
    for (let at = 0; at < ms; at += 1) {
      const word = this.#nextWord++;
      samples[at * SAMPLES_PER_MS] = word;
      this.written.set(String(word), this.#atMs++);
      this.#sinceFlush.push(String(word));
    }
    this.buffer.write(new Uint8Array(samples.buffer));
  }

  #send(): void {
    if (this.#session.samplesLeft === 0) return;
    const entry = this.buffer.next(this.#session.samplesLeft);
    if (entry === undefined) return;
    if (entry.kind === 'audio') this.#clock.advance(entry.at, entry.pcm.byteLength / 2);
    this.#session.receive(entry);
  }

  #deliver(): void {
    const event = this.#session.events.shift();
    if (event === undefined) return;
    if (event.type === 'reset_ack') {
      const id = this.buffer.settleReset();
      if (id !== null) this.answered.push(id);
      return;
    }
    this.#onFinal(event);
  }

  #settle(event: FinalEvent): Settled | null {
    if (event.reason === 'flush') return this.buffer.settleFlush();
    const endSample = event.end_ms * SAMPLES_PER_MS;
    return event.reason === 'max_audio_reached'
      ? this.buffer.settleEnd(endSample)
      : this.buffer.settleUpTo(endSample);
  }

  /** A later reset does not retract the words of a final, even of one sent at the session's limit. */
  #deliverFinal(event: FinalEvent, settled: Settled): void {
    this.transcript.onFinal(event, settled, this.#clock);
    const delivered = new Set(event.words.map((word) => word.text));
    this.#sinceFlush = this.#sinceFlush.filter((word) => !delivered.has(word));
  }

  #onFinal(event: FinalEvent): void {
    const limit = event.reason === 'max_audio_reached';
    const { isResetPending } = this.buffer;
    const settled = this.#settle(event);
    if (settled !== null) {
      if (!isResetPending) this.#deliverFinal(event, settled);
      this.answered.push(...settled.answered);
    }
    if (limit) this.#session = this.#begin();
  }
}

interface Outcome {
  /** Each word with its start and end. */
  readonly words: readonly (readonly [string, number, number])[];
  readonly text: string;
  /** Flushes and resets. */
  readonly answered: readonly number[];
}

/** Runs the steps. Returns the actual and the expected words and answers. */
function play(
  steps: readonly Step[],
  options: { limitMs: number; endpointEveryMs: number },
): { actual: Outcome; expected: Outcome } {
  const history = new History(options.limitMs, options.endpointEveryMs);
  for (const each of steps) history.take(each);
  history.finish();
  const { words, text } = history.transcript.transcript;
  const { written, asked } = history;
  return {
    actual: {
      words: words.map((word) => [word.text, word.start_ms, word.end_ms]),
      text,
      answered: history.answered.toSorted((a, b) => a - b),
    },
    expected: {
      words: [...written].map(([word, ms]) => [word, ms, ms + 1]),
      text: [...written.keys()].join(' '),
      answered: asked,
    },
  };
}

test('after any failures the transcript has each word once, in order, with its time, and each flush one final', () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 80 }),
      fc.integer({ min: 5, max: 200 }),
      fc.oneof(fc.constant(Infinity), fc.integer({ min: 1, max: 20 })),
      (steps, limitMs, endpointEveryMs) => {
        const { actual, expected } = play(steps, { limitMs, endpointEveryMs });
        expect(actual).toEqual(expected);
      },
    ),
    { numRuns: 3_000 },
  );
});

/** Found by the property above. core/protocol/vectors/replay.json has it for both SDKs. */
test('a reset while finals of an endpoint and a flush are in flight neither loses nor repeats a word', () => {
  const steps: readonly Step[] = [
    { do: 'write', ms: 1 },
    { do: 'send', entries: 1 },
    { do: 'flush' },
    { do: 'write', ms: 1 },
    { do: 'send', entries: 2 },
    { do: 'reset' },
  ];
  const { actual, expected } = play(steps, { limitMs: 5, endpointEveryMs: 1 });
  expect(actual).toEqual(expected);
});

test('does not deliver a delta again after a failure', () => {
  const transcript = new TranscriptBuilder();
  const delta = { type: 'delta', utterance: 0, stable_chars: 0 } as const;
  expect(transcript.onDelta({ ...delta, text: 'nĩ', audio_ms: 1_120 })).toMatchObject({
    text: 'nĩ',
  });
  expect(transcript.onDelta({ ...delta, text: 'nĩ wega', audio_ms: 2_240 })).not.toBeNull();
  // The next session receives the utterance from its start.
  expect(transcript.onDelta({ ...delta, text: 'nĩ', audio_ms: 1_120 })).toBeNull();
  expect(transcript.onDelta({ ...delta, text: 'nĩ wega', audio_ms: 2_240 })).not.toBeNull();
  expect(transcript.onDelta({ ...delta, text: 'nĩ wega mũno', audio_ms: 3_360 })).not.toBeNull();
});

test('does not report speech_started again after a failure', () => {
  const transcript = new TranscriptBuilder();
  const clock = new SessionClock();
  clock.advance(0, 100_000);
  const at = (type: 'speech_started' | 'speech_ended', audio_ms: number) =>
    transcript.onSpeech({ type, utterance: 0, audio_ms }, clock)?.audio_ms;
  expect(at('speech_started', 500)).toBe(500);
  // The session fails during speech. The next one receives the utterance from its start.
  expect(at('speech_started', 500)).toBeUndefined();
  expect(at('speech_ended', 1_900)).toBe(1_900);
  expect(at('speech_started', 500)).toBeUndefined();
  expect(at('speech_ended', 1_900)).toBeUndefined();
  expect(at('speech_started', 3_000)).toBe(3_000);
});

test('the receipt of a failed session is zero, of a lost one unknown', () => {
  const transcript = new TranscriptBuilder();
  const clock = new SessionClock();
  const final = new SimulatedSession(10);
  final.receive({ kind: 'audio', at: 0, pcm: new Uint8Array(32) });
  final.receive({ kind: 'flush', id: 1 });
  const [event] = final.events;
  if (event?.type !== 'final') throw new Error('no final');
  for (const billed of ['as_told', 'nothing', 'unknown'] as const) {
    transcript.beginSession(billed);
    transcript.onFinal(event, { answered: [1], startSample: 0, endSample: 16 }, clock);
    transcript.endSession(billed);
  }
  expect(transcript.transcript.sessions.map((session) => session.billableMs)).toEqual([
    1_000,
    0,
    null,
  ]);
});

test('the receipt counts audio that a reset dropped, without a final after it', () => {
  const transcript = new TranscriptBuilder();
  transcript.beginSession('idle');
  const ack = { type: 'reset_ack', id: 1, utterance: 1, discarded_ms: 1_100 } as const;
  transcript.onDropped({ ...ack, total_audio_ms: 1_100 });
  transcript.endSession('as_told');
  expect(transcript.transcript.sessions).toEqual([{ sessionId: 'idle', billableMs: 2_000 }]);
});

test('times match those of a single session to the millisecond, even for utterances that start within one', () => {
  const samples = [1_003, 2_010, 777];
  function finals(failBefore: number | null) {
    const buffer = new ReplayBuffer();
    const transcript = new TranscriptBuilder();
    let clock = new SessionClock();
    let delivered = 0;
    transcript.beginSession('a');
    for (const [at, count] of samples.entries()) {
      if (at === failBefore) {
        buffer.rewind();
        clock = new SessionClock();
        delivered = 0;
      }
      buffer.write(new Uint8Array(count * 2));
      buffer.flush(at);
      for (let entry = buffer.next(); entry !== undefined; entry = buffer.next()) {
        if (entry.kind === 'audio') clock.advance(entry.at, entry.pcm.byteLength / 2);
      }
      const start = Math.floor(delivered / SAMPLES_PER_MS);
      delivered += count;
      const end = Math.ceil(delivered / SAMPLES_PER_MS);
      const word = { text: 'x', start_ms: start + 20, end_ms: start + 40 };
      const settled = buffer.settleFlush();
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
      transcript.onFinal(event, settled, clock);
    }
    return transcript.transcript.finals.map(({ start_ms, end_ms, words }) => [
      start_ms,
      end_ms,
      words,
    ]);
  }
  const undisturbed = finals(null);
  expect(finals(1)).toEqual(undisturbed);
  expect(finals(2)).toEqual(undisturbed);
});
