import { LIMITS, type ServerEvent } from '@svc-asr/protocol';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EngineEvent } from '@svc-asr/engine';
import { parseTextMessage } from './frames.ts';
import { onControl, onMessage } from './stream-messages.ts';
import { startStream, type Action, type Step, type StreamState } from './stream-state.ts';
import { onAudio, onDrain, onDrainDeadline, onEngineEvent, onReady, onTick } from './stream.ts';

const SESSION = {
  sessionId: '3f0f5fd0-5f3c-4ad6-8a53-9d2a4b0f6a11',
  requestId: '9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d',
  model: 'svc-asr-kikuyu-v1',
} as const;

/** Drives the rules as the connection does, with an engine that answers when asked to. */
class Stage {
  state: StreamState;
  readonly sent: ServerEvent[] = [];
  readonly recognized: Uint8Array[] = [];
  readonly asked: ('flush' | 'reset')[] = [];
  ending: (Action & { do: 'end' })['ending'] | null = null;
  nowMs = 0;

  constructor(reservedMs: number) {
    this.state = startStream({ session: { ...SESSION, reservedMs }, nowMs: 0 });
  }

  ready(): this {
    return this.#take(onReady(this.state, { chunkSamples: 17_920, nowMs: this.nowMs }));
  }

  audio(frame: Uint8Array | number): this {
    const bytes = typeof frame === 'number' ? speech(frame) : frame;
    return this.#take(onAudio(this.state, { frame: bytes, nowMs: this.nowMs }));
  }

  text(message: unknown): this {
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    this.#take(onControl(this.state, this.nowMs));
    const parsed = parseTextMessage(Buffer.from(text));
    return this.#take(onMessage(this.state, { message: parsed, nowMs: this.nowMs }));
  }

  engine(event: EngineEvent): this {
    return this.#take(onEngineEvent(this.state, event));
  }

  final(utterance: number, text = ''): this {
    return this.engine({ type: 'final', utterance, text, words: [], samples: 0 });
  }

  delta(utterance: number, text: string): this {
    return this.engine({ type: 'delta', utterance, text, stableLength: 0, words: [], samples: 1 });
  }

  at(nowMs: number): this {
    this.nowMs = nowMs;
    return this.#take(onTick(this.state, { nowMs, reading: true }));
  }

  drain(deadlineMs: number): this {
    return this.#take(onDrain(this.state, deadlineMs));
  }

  drainDeadline(): this {
    return this.#take(onDrainDeadline(this.state, this.nowMs));
  }

  types(): string[] {
    return this.sent.map((event) => ('code' in event ? `${event.type}:${event.code}` : event.type));
  }

  #take([state, actions]: Step): this {
    if (this.ending !== null && actions.length > 0) throw new Error('It acted after its end.');
    this.state = state;
    for (const action of actions) {
      if (action.do === 'send') this.sent.push(action.event);
      else if (action.do === 'recognize') this.recognized.push(action.pcm);
      else if (action.do === 'end') this.ending = action.ending;
      else this.asked.push(action.do);
    }
    return this;
  }
}

/** Bytes that no format check takes for anything but speech. */
function speech(bytes: number): Uint8Array {
  return Uint8Array.from({ length: bytes }, (_, at) => (at * 37 + 11) % 251);
}

function joined(parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat(parts);
}

describe('metering', () => {
  /** The oracle: one long byte string, cut by hand. */
  type Plan = ({ do: 'audio'; bytes: number } | { do: 'flush' } | { do: 'reset' })[];
  const plan: fc.Arbitrary<Plan> = fc.array(
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          do: fc.constant('audio' as const),
          bytes: fc.integer({ min: 0, max: 9_000 }),
        }),
      },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('flush' as const) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('reset' as const) }) },
    ),
    { maxLength: 40 },
  );

  test('C02 W10 what reaches the engine is what is metered, to the sample, and never past the limit', () => {
    fc.assert(
      fc.property(plan, fc.integer({ min: 1, max: 6 }), (steps, seconds) => {
        const stage = new Stage(seconds * 1000).ready();
        const limit = seconds * 16_000;
        const expected: Buffer[] = [];
        let segment = Buffer.alloc(0);
        let samples = 0;
        const settleSegment = (): void => {
          const whole = Math.min(limit - samples, segment.byteLength >> 1);
          samples += whole;
          expected.push(segment.subarray(0, whole * 2));
          segment = Buffer.alloc(0);
        };
        for (const [index, step] of steps.entries()) {
          stage.nowMs = index * 1000;
          if (step.do === 'audio') {
            const frame = speech(step.bytes);
            stage.audio(frame);
            segment = Buffer.concat([segment, frame]);
          } else {
            stage.text({ type: step.do });
            if (step.do === 'reset' && samples + (segment.byteLength >> 1) < limit) settleSegment();
          }
        }
        settleSegment();
        expect(stage.state.meter.acceptedSamples).toBe(samples);
        expect(joined(stage.recognized).equals(Buffer.concat(expected))).toBe(true);
        expect(stage.state.phase).toBe(samples === limit ? 'finishing' : 'streaming');
      }),
      { numRuns: 400 },
    );
  });

  test.each([
    [0, 0, 0],
    [1, 1, 1_000],
    [15_999, 1_000, 1_000],
    [16_000, 1_000, 1_000],
    [16_001, 1_001, 2_000],
  ])('C03 %i samples show %i ms and bill %i ms in the receipt', (samples, audioMs, billed) => {
    const stage = new Stage(60_000)
      .ready()
      .audio(samples * 2)
      .text({ type: 'flush' })
      .final(0);
    expect(stage.sent.at(-1)).toMatchObject({
      audio_ms: audioMs,
      total_audio_ms: audioMs,
      billable_ms: billed,
    });
  });

  test('limit reached inside a frame: the cut, the automatic flush and its final, then 1000', () => {
    const stage = new Stage(1_000).ready().audio(20_000).audio(20_001);
    expect(joined(stage.recognized).byteLength).toBe(32_000);
    expect(stage.asked).toEqual(['flush']);
    stage.audio(2_000).final(0, 'nĩ wega');
    expect(stage.sent.at(-1)).toMatchObject({
      reason: 'max_audio_reached',
      text: 'nĩ wega',
      billable_ms: 1_000,
    });
    expect(stage.ending).toEqual({
      status: 'completed',
      closeCode: 1000,
      reason: 'max_audio_reached',
    });
  });

  test('a flush sent just after the limit is answered by the automatic final, which carries its id', () => {
    const stage = new Stage(1_000).ready().audio(32_000).text({ type: 'flush', id: 'a' }).final(0);
    expect(stage.sent.at(-1)).toMatchObject({
      type: 'final',
      id: 'a',
      reason: 'max_audio_reached',
    });
  });

  test('limit_warning comes once, ten seconds before the limit', () => {
    const stage = new Stage(12_000).ready().audio(2 * 31_999);
    expect(stage.types()).not.toContain('status:limit_warning');
    stage.audio(2).audio(2);
    expect(stage.types().filter((type) => type === 'status:limit_warning')).toHaveLength(1);
    expect(stage.sent.at(-1)).toMatchObject({ remaining_ms: 10_000 });
  });
});

describe('order', () => {
  test('W04 audio before ready is dropped, not metered, and said once, after ready', () => {
    const stage = new Stage(5_000).audio(100).audio(100).ready();
    expect(stage.types()).toEqual(['ready', 'error:audio_before_ready']);
    expect(stage.state.meter.acceptedSamples).toBe(0);
  });

  test('messages sent before ready are answered after it, in order', () => {
    const stage = new Stage(5_000).text({ type: 'config' }).text({ type: 'reset' }).ready();
    expect(stage.types()).toEqual(['ready', 'config_ack', 'reset_ack']);
  });

  test('one final for each flush, in order, and every one closes its own utterance', () => {
    const stage = new Stage(60_000).ready();
    stage
      .audio(32_000)
      .text({ type: 'flush', id: 'a' })
      .audio(64_000)
      .text({ type: 'flush', id: 'b' });
    stage.text({ type: 'flush', id: 'c' });
    stage.delta(0, 'ĩĩ').final(0, 'ĩĩ').delta(1, 'aca').final(1, 'aca').final(2);
    expect(stage.sent.slice(1)).toMatchObject([
      { type: 'delta', utterance: 0 },
      { type: 'final', utterance: 0, id: 'a', start_ms: 0, end_ms: 1_000, total_audio_ms: 1_000 },
      { type: 'delta', utterance: 1 },
      { type: 'final', utterance: 1, id: 'b', start_ms: 1_000, end_ms: 3_000, audio_ms: 2_000 },
      { type: 'final', utterance: 2, id: 'c', start_ms: 3_000, end_ms: 3_000, audio_ms: 0 },
    ]);
  });

  test('W08 reset with a pending flush: the final first, then the acknowledgement; nothing is refunded', () => {
    const stage = new Stage(60_000).ready().audio(32_000).text({ type: 'flush' }).audio(16_000);
    stage.text({ type: 'reset', id: 'r' });
    expect(stage.asked).toEqual(['flush', 'reset']);
    expect(stage.types()).toEqual(['ready']);
    stage.final(0);
    expect(stage.sent.at(-1)).toEqual({
      type: 'reset_ack',
      id: 'r',
      utterance: 2,
      discarded_ms: 500,
      total_audio_ms: 1_500,
    });
  });

  test('a delta that was on its way when reset dropped its utterance is not shown', () => {
    const stage = new Stage(60_000).ready().audio(32_000).text({ type: 'reset' });
    stage.delta(0, 'dropped').delta(1, 'kept');
    expect(stage.sent.slice(1)).toMatchObject([
      { type: 'reset_ack' },
      { type: 'delta', text: 'kept' },
    ]);
  });

  test('words and their utterance are placed on the time line of the session', () => {
    const stage = new Stage(60_000).ready().audio(32_000).text({ type: 'flush' }).final(0);
    stage.audio(32_000).text({ type: 'flush' });
    const words = [{ text: 'ĩĩ', startMs: 200, endMs: 1_300 }];
    stage.engine({ type: 'final', utterance: 1, text: 'ĩĩ', words, samples: 16_000 });
    expect(stage.sent.at(-1)).toMatchObject({
      words: [{ text: 'ĩĩ', start_ms: 1_200, end_ms: 2_000 }],
    });
  });
});

describe('errors and limits', () => {
  test('ten complaints are said, the eleventh ends the stream with 1008', () => {
    const stage = new Stage(60_000).ready();
    for (let at = 0; at < 10; at += 1) stage.text('no json');
    expect(stage.ending).toBeNull();
    stage.text('no json');
    expect(stage.sent.at(-1)).toMatchObject({
      code: 'too_many_errors',
      fatal: true,
      close_code: 1008,
    });
    expect(stage.ending).toEqual({
      status: 'completed',
      closeCode: 1008,
      reason: 'too_many_errors',
    });
  });

  test('the sixth flush within a second is refused and says so; a second later flushing works again', () => {
    const stage = new Stage(60_000).ready();
    for (let at = 0; at < 6; at += 1) stage.text({ type: 'flush' });
    expect(stage.asked).toHaveLength(5);
    expect(stage.types()).toContain('error:flush_throttled');
    stage.nowMs = 1_000;
    stage.text({ type: 'flush' });
    expect(stage.asked).toHaveLength(6);
  });

  test('more than twenty messages in a second end the stream', () => {
    const stage = new Stage(60_000).ready();
    for (let at = 0; at < 20; at += 1) stage.text({ type: 'config' });
    expect(stage.ending).toBeNull();
    stage.text({ type: 'config' });
    expect(stage.ending).toMatchObject({ closeCode: 1008 });
  });

  test.each(['ki', 'kik', 'ki-KE', 'kik-KE', 'Kikuyu'])(
    'config.language %s is this session',
    (language) => {
      const stage = new Stage(60_000).ready().text({ type: 'config', language, id: 'x' });
      expect(stage.sent.at(-1)).toMatchObject({
        type: 'config_ack',
        id: 'x',
        language: 'ki',
        effective: 'now',
      });
    },
  );

  test.each([
    ['luo', 'language_mismatch', { language: 'luo' }],
    ['a number', 'language_mismatch', { language: 7 }],
    ['another context', 'unsupported_context', { context: [70, 13] }],
  ])('config with %s is told %s and the stream goes on', (_, code, fields) => {
    const stage = new Stage(60_000).ready().text({ type: 'config', ...fields });
    expect(stage.sent.at(-1)).toMatchObject({ code, fatal: false, retryable: false });
    expect(stage.ending).toBeNull();
  });

  test('config in the middle of an utterance counts from the next, and unknown fields are listed', () => {
    const stage = new Stage(60_000).ready().audio(2).text({ type: 'config', colour: 'red' });
    expect(stage.sent.at(-1)).toMatchObject({ effective: 'next_utterance', ignored: ['colour'] });
  });

  test('odd_byte_carried is said once', () => {
    const stage = new Stage(60_000).ready().audio(3).audio(3).audio(5);
    expect(stage.types().filter((type) => type === 'status:odd_byte_carried')).toHaveLength(1);
  });

  test.each([
    ['a WAV file', Buffer.concat([Buffer.from('RIFF'), speech(400)])],
    ['Ogg', Buffer.concat([Buffer.from('OggS'), speech(400)])],
    ['MP3', Buffer.concat([Buffer.from('ID3\u0003'), speech(400)])],
    ['base64 text', Buffer.from('c3ZjLWFzci1hdWRpbw=='.repeat(1_700))],
    ['zeros', Buffer.alloc(32_000)],
    ['full scale', Buffer.alloc(32_000, Buffer.from([0xff, 0x7f, 0x00, 0x80]))],
  ])('suspicious_audio is hinted once for %s', (_, bytes) => {
    const stage = new Stage(60_000).ready();
    for (let at = 0; at < bytes.byteLength; at += 3_200)
      stage.audio(bytes.subarray(at, at + 3_200));
    stage.audio(bytes.subarray(0, 3_200));
    expect(stage.types().filter((type) => type === 'status:suspicious_audio')).toHaveLength(1);
  });

  test('speech raises no suspicion', () => {
    expect(new Stage(60_000).ready().audio(50_000).types()).toEqual(['ready']);
  });
});

describe('time', () => {
  test('no ready within 20 s: 1013, failed', () => {
    const stage = new Stage(5_000).at(LIMITS.initializationMs - 1);
    expect(stage.ending).toBeNull();
    stage.at(LIMITS.initializationMs);
    expect(stage.ending).toEqual({
      status: 'failed',
      closeCode: 1013,
      reason: 'initialization_timeout',
    });
  });

  test('60 s without accepted audio: 4408 idle_timeout, counted from the last audio', () => {
    const stage = new Stage(300_000).ready().at(59_000).audio(2).at(118_999);
    expect(stage.ending).toBeNull();
    stage.at(119_000);
    expect(stage.ending).toEqual({ status: 'completed', closeCode: 4408, reason: 'idle_timeout' });
  });

  test('a client that we hold back ourselves is not idle', () => {
    const stage = new Stage(300_000).ready();
    const [, actions] = onTick(stage.state, { nowMs: 61_000, reading: false });
    expect(actions).toEqual([]);
  });

  test('15 minutes on the clock: 4408 session_time_limit', () => {
    const stage = new Stage(300_000).ready();
    for (let minute = 1; minute < 30; minute += 1) stage.at(minute * 30_000).audio(2);
    expect(stage.ending).toBeNull();
    stage.at(LIMITS.sessionWallClockMs);
    expect(stage.ending).toEqual({
      status: 'completed',
      closeCode: 4408,
      reason: 'session_time_limit',
    });
  });

  test('drain: told at once with the deadline, at the deadline a final, then 1012 unbilled', () => {
    const stage = new Stage(60_000).ready().audio(32_000).drain(330_000);
    expect(stage.sent.at(-1)).toMatchObject({ code: 'draining', deadline_ms: 330_000 });
    stage.drainDeadline().final(0, 'nĩ wega');
    expect(stage.sent.slice(-2)).toMatchObject([
      { type: 'final', reason: 'draining', text: 'nĩ wega' },
      { type: 'error', code: 'service_restart', retryable: true },
    ]);
    expect(stage.ending).toEqual({ status: 'failed', closeCode: 1012, reason: 'service_restart' });
  });

  test('an engine that fails ends the stream with 1011, unbilled', () => {
    const stage = new Stage(60_000).ready().engine({ type: 'error', reason: 'child_died' });
    expect(stage.types()).toEqual(['ready', 'error:internal_error']);
    expect(stage.ending).toEqual({ status: 'failed', closeCode: 1011, reason: 'internal_error' });
  });

  test('a last final that never comes does not hold the stream for ever', () => {
    const stage = new Stage(1_000).ready().audio(32_000).at(30_000);
    expect(stage.ending).toMatchObject({ status: 'failed', closeCode: 1011 });
  });
});
