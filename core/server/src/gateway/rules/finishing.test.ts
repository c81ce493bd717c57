import type { ServerEvent } from '@svc-asr/protocol';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { endWith } from './finishing.ts';
import { parseTextMessage } from './pcm-frames.ts';
import { onMessage } from './stream-messages.ts';
import { startStream, type Step, type StreamState } from './stream-state.ts';
import { onAudio, onClientClose, onEngineEvent, onReady, onTick } from './stream.ts';

/** Audio that is charged has its final, whatever ends the stream. */

const SESSION = {
  sessionId: '3f0f5fd0-5f3c-4ad6-8a53-9d2a4b0f6a11',
  requestId: '9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d',
  model: 'svc-asr-kikuyu-v1',
  reservedMs: 60_000,
} as const;
const OFFENCES = [
  'protocol_error',
  'invalid_utf8',
  'too_many_errors',
  'too_many_messages',
  'message_too_large',
  'slow_reader',
  'account_inactive',
  'session_ended',
] as const;

class Stage {
  state: StreamState = startStream({ session: SESSION, nowMs: 0 });
  readonly sent: ServerEvent[] = [];
  /** Flushes that the engine has not answered. */
  flushes = 0;
  answered = 0;
  chargedSamples: number | null = null;
  status: string | null = null;
  ignoresClient = false;

  constructor() {
    this.take(onReady(this.state, { chunkSamples: 17_920, nowMs: 0 }));
  }

  take([state, actions]: Step): void {
    this.state = state;
    for (const action of actions) {
      if (action.do === 'send') this.sent.push(action.event);
      else if (action.do === 'flush') this.flushes += 1;
      else if (action.do === 'stop_reading') this.ignoresClient = true;
      else if (action.do === 'close') {
        this.chargedSamples = action.samples;
        this.status = action.ending.status;
      }
    }
  }

  audio(samples: number, nowMs: number): void {
    this.take(onAudio(this.state, { frame: new Uint8Array(samples * 2).fill(7), nowMs }));
  }

  text(text: string, nowMs: number): void {
    this.take(onMessage(this.state, { message: parseTextMessage(Buffer.from(text)), nowMs }));
  }

  /** Answers the oldest flush. */
  answer(nowMs: number): void {
    const marker = this.state.markers.find(({ ask }) => ask === 'final');
    if (marker?.ask !== 'final') return;
    const { utterance } = marker;
    const event = { type: 'final', utterance, text: 'nĩ', words: [], samples: 0 } as const;
    this.take(onEngineEvent(this.state, { event, nowMs }));
  }

  errors(): string[] {
    return this.sent.flatMap((event) => (event.type === 'error' ? [event.code] : []));
  }
}

test.each(OFFENCES)('%s: the final of the audio before it precedes the close', (code) => {
  const stage = new Stage();
  stage.audio(56_000, 0);
  stage.text('{"type":"flush","id":1}', 0);
  stage.audio(16_000, 0);
  stage.take(endWith(stage.state, { code, nowMs: 0 }));
  expect(stage).toMatchObject({ ignoresClient: true, status: null, flushes: 2 });
  stage.answer(100);
  stage.answer(200);
  expect(stage.sent.slice(-3)).toMatchObject([
    { type: 'final', reason: 'flush', id: 1, billable_ms: 4_000 },
    { type: 'final', reason: 'closing', billable_ms: 5_000 },
    { type: 'error', code, fatal: true },
  ]);
  expect(stage).toMatchObject({ status: 'completed', chargedSamples: 72_000 });
});

test.each(OFFENCES)('%s: audio without its final after two seconds is not charged', (code) => {
  const stage = new Stage();
  stage.audio(16_000, 0);
  stage.text('{"type":"flush"}', 0);
  stage.answer(0);
  stage.audio(56_000, 0);
  stage.take(endWith(stage.state, { code, nowMs: 0 }));
  // A suspension is reported every two seconds, and a slow reader at every tick.
  stage.take(endWith(stage.state, { code, nowMs: 1_000 }));
  for (let nowMs = 250; nowMs < 2_000; nowMs += 250) {
    stage.take(onTick(stage.state, { nowMs, reading: true }));
  }
  expect(stage.sent.at(-1)).toMatchObject({ code, fatal: true });
  expect(stage).toMatchObject({ status: 'completed', chargedSamples: 16_000 });
});

test.each([true, false])(
  'the ten errors before too_many_errors are sent (answered: %s)',
  (inTime) => {
    const stage = new Stage();
    stage.audio(56_000, 0);
    stage.text('{"type":"flush"}', 0);
    for (let at = 0; at < 11; at += 1) stage.text('no JSON', 0);
    if (inTime) stage.answer(100);
    else stage.take(onTick(stage.state, { nowMs: 2_000, reading: true }));
    const ten: string[] = Array.from({ length: 10 }, () => 'invalid_message');
    expect(stage.errors()).toEqual([...ten, 'too_many_errors']);
    expect(stage.chargedSamples).toBe(inTime ? 56_000 : 0);
  },
);

test('a close, an offence or a suspension charges exactly the audio up to the last final or reset, and a closed stream that lacks a final nothing', () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('audio' as const), n: fc.nat(20_000) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('flush' as const) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('answer' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('reset' as const) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('invalid' as const) }) },
  );
  const ending = fc.constantFrom(...OFFENCES, 'close' as const);
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), ending, fc.nat(12), (steps, code, answers) => {
      const stage = new Stage();
      let nowMs = 0;
      for (const one of steps) {
        nowMs += 300;
        if (one.do === 'audio') stage.audio(one.n, nowMs);
        else if (one.do === 'flush') stage.text('{"type":"flush"}', nowMs);
        else if (one.do === 'reset') stage.text('{"type":"reset"}', nowMs);
        else if (one.do === 'invalid') stage.text('no JSON', nowMs);
        else stage.answer(nowMs);
      }
      stage.take(
        code === 'close'
          ? onClientClose(stage.state, nowMs)
          : endWith(stage.state, { code, nowMs }),
      );
      for (let at = 0; at < answers; at += 1) stage.answer(nowMs + 100);
      const lacksFinal = code === 'close' && stage.state.phase !== 'closed';
      stage.take(onTick(stage.state, { nowMs: nowMs + 2_000, reading: true }));
      expect(stage.state.phase).toBe(lacksFinal ? 'finishing' : 'closed');
      stage.take(onTick(stage.state, { nowMs: nowMs + 15_100, reading: true }));
      expect(stage).toMatchObject({
        state: { phase: 'closed' },
        status: lacksFinal ? 'failed' : 'completed',
      });
      if (lacksFinal) return;
      // Finals and resets cover the charged audio without a gap.
      let endMs = 0;
      const settling = stage.sent.filter(({ type }) => type === 'final' || type === 'reset_ack');
      for (const event of settling) {
        expect('start_ms' in event ? event.start_ms : endMs).toBe(endMs);
        endMs = 'total_audio_ms' in event ? event.total_audio_ms : endMs;
      }
      expect(Math.ceil((stage.chargedSamples ?? 0) / 16)).toBe(endMs);
    }),
    { numRuns: 500 },
  );
});
