import { LIMITS, type ServerEvent } from '@svc-asr/protocol';
import type { LostSession } from '@svc-asr/protocol/lost-host.ts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EngineEvent } from '@svc-asr/engine';
import { parseTextMessage } from './pcm-frames.ts';
import { onControl, onMessage } from './stream-messages.ts';
import { startStream, type Action, type Step, type StreamState } from './stream-state.ts';
import {
  onAudio,
  onClientClose,
  onDrain,
  onDrainDeadline,
  onEngineEvent,
  onReady,
  onTick,
} from './stream.ts';

const SESSION = {
  sessionId: '3f0f5fd0-5f3c-4ad6-8a53-9d2a4b0f6a11',
  requestId: '9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d',
  model: 'svc-asr-kikuyu-v1',
} as const;

/** Drives the stream state machine as the connection does. The test sends the engine's events. */
class Stage {
  state: StreamState;
  readonly sent: ServerEvent[] = [];
  readonly recognized: Uint8Array[] = [];
  readonly asked: ('flush' | 'reset')[] = [];
  readonly keyterms: (readonly string[])[] = [];
  readonly continued: LostSession[] = [];
  ending: (Action & { do: 'close' })['ending'] | null = null;
  chargedSamples = 0;
  ignoresClient = false;
  nowMs = 0;

  constructor(reservedMs: number) {
    this.state = startStream({ session: { ...SESSION, reservedMs }, nowMs: 0 });
  }

  ready(takesKeyterms = false): this {
    const input = { chunkSamples: 17_920, nowMs: this.nowMs, takesKeyterms };
    return this.#take(onReady(this.state, input));
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
    return this.#take(onEngineEvent(this.state, { event, nowMs: this.nowMs }));
  }

  final(utterance: number, text = ''): this {
    return this.engine({ type: 'final', utterance, text, words: [], samples: 0 });
  }

  delta(utterance: number, text: string): this {
    return this.engine({ type: 'delta', utterance, text, stableLength: 0, samples: 1 });
  }

  at(nowMs: number): this {
    this.nowMs = nowMs;
    return this.#take(onTick(this.state, { nowMs, reading: true }));
  }

  close(): this {
    return this.#take(onClientClose(this.state, this.nowMs));
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
    if (this.ending !== null && actions.length > 0)
      throw new Error('The stream acted after its end.');
    this.state = state;
    for (const action of actions) {
      if (action.do === 'send') this.sent.push(action.event);
      else if (action.do === 'feed') this.recognized.push(action.pcm);
      else if (action.do === 'close') {
        this.ending = action.ending;
        this.chargedSamples = action.samples;
      } else if (action.do === 'stop_reading') this.ignoresClient = true;
      else if (action.do === 'expect') this.keyterms.push(action.keyterms);
      else if (action.do === 'continue') this.continued.push(...action.lost);
      else if (action.do !== 'peek') this.asked.push(action.do);
    }
    return this;
  }
}

/** Returns bytes that pass every format check as speech. */
function speech(bytes: number): Uint8Array {
  return Uint8Array.from({ length: bytes }, (_, at) => (at * 37 + 11) % 251);
}

function joined(parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat(parts);
}

describe('metering', () => {
  /** The expected result comes from one long byte string that the test cuts itself. */
  type Plan = ({ do: 'audio'; bytes: number } | { do: 'flush' | 'reset' | 'config' })[];
  const plan: fc.Arbitrary<Plan> = fc.array(
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({
          do: fc.constant('audio' as const),
          bytes: fc.integer({ min: 0, max: 9_000 }),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({ do: fc.constantFrom('flush', 'reset', 'config') }),
      },
    ),
    { maxLength: 40 },
  );

  test('C02 W10 meters exactly the samples that reach the engine, and none past the limit', () => {
    fc.assert(
      fc.property(plan, fc.integer({ min: 1, max: 6 }), (steps, seconds) => {
        const stage = new Stage(seconds * 1000).ready();
        const limit = seconds * 16_000;
        let sent = Buffer.alloc(0);
        for (const [index, step] of steps.entries()) {
          stage.nowMs = index * 1000;
          if (step.do === 'audio') {
            const frame = speech(step.bytes);
            stage.audio(frame);
            sent = Buffer.concat([sent, frame]);
          } else stage.text({ type: step.do });
        }
        const samples = Math.min(limit, sent.byteLength >> 1);
        expect(stage.state.meter.acceptedSamples).toBe(samples);
        expect(joined(stage.recognized).equals(sent.subarray(0, samples * 2))).toBe(true);
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
  ])(
    'C03 the receipt for %i samples reports %i ms of audio and bills %i ms',
    (samples, audioMs, billed) => {
      const stage = new Stage(60_000)
        .ready()
        .audio(samples * 2)
        .text({ type: 'flush' });
      for (const asked of stage.asked) if (asked === 'flush') stage.final(0);
      expect(stage.sent.at(-1)).toMatchObject({
        audio_ms: audioMs,
        total_audio_ms: audioMs,
        billable_ms: billed,
      });
    },
  );

  test('cuts the frame at the limit, flushes, sends the final and closes with 1000', () => {
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

  test('answers a flush sent just after the limit with the automatic final and the id of the flush', () => {
    const stage = new Stage(1_000).ready().audio(32_000).text({ type: 'flush', id: 'a' }).final(0);
    expect(stage.sent.at(-1)).toMatchObject({
      type: 'final',
      id: 'a',
      reason: 'max_audio_reached',
    });
  });

  test('sends limit_warning once, ten seconds before the limit', () => {
    const stage = new Stage(12_000).ready().audio(2 * 31_999);
    expect(stage.types()).not.toContain('status:limit_warning');
    stage.audio(2).audio(2);
    expect(stage.types().filter((type) => type === 'status:limit_warning')).toHaveLength(1);
    expect(stage.sent.at(-1)).toMatchObject({ remaining_ms: 10_000 });
  });
});

describe('message order', () => {
  test('W04 drops audio sent before ready, does not meter it, and reports it once after ready', () => {
    const stage = new Stage(5_000).audio(100).audio(100).ready();
    expect(stage.types()).toEqual(['ready', 'error:audio_before_ready']);
    expect(stage.state.meter.acceptedSamples).toBe(0);
  });

  test('answers messages sent before ready after it, in order', () => {
    const stage = new Stage(5_000).text({ type: 'config' }).text({ type: 'reset' }).ready();
    expect(stage.types()).toEqual(['ready', 'config_ack', 'reset_ack']);
  });

  test('sends one final per flush, in order, each for its own utterance', () => {
    const stage = new Stage(60_000).ready();
    stage
      .audio(32_000)
      .text({ type: 'flush', id: 'a' })
      .audio(64_000)
      .text({ type: 'flush', id: 'b' });
    stage.text({ type: 'flush', id: 'c' });
    stage.delta(0, 'ĩĩ').final(0, 'ĩĩ').delta(1, 'aca').final(1, 'aca');
    expect(stage.sent.slice(1)).toMatchObject([
      { type: 'delta', utterance: 0 },
      { type: 'final', utterance: 0, id: 'a', start_ms: 0, end_ms: 1_000, total_audio_ms: 1_000 },
      { type: 'delta', utterance: 1 },
      { type: 'final', utterance: 1, id: 'b', start_ms: 1_000, end_ms: 3_000, audio_ms: 2_000 },
      { type: 'final', utterance: 2, id: 'c', start_ms: 3_000, end_ms: 3_000, audio_ms: 0 },
    ]);
  });

  test('W08 a reset with a pending flush sends the final, then reset_ack, and refunds nothing', () => {
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

  test('discards late deltas of an utterance that was reset', () => {
    const stage = new Stage(60_000).ready().audio(32_000).text({ type: 'reset' });
    stage.delta(0, 'dropped').delta(1, 'kept');
    expect(stage.sent.slice(1)).toMatchObject([
      { type: 'reset_ack' },
      { type: 'delta', text: 'kept' },
    ]);
  });

  test('reports word times relative to the start of the session', () => {
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
  test('reports ten errors and closes with 1008 on the eleventh', () => {
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

  test('refuses the sixth flush within a second with flush_throttled and accepts flushes a second later', () => {
    const stage = new Stage(60_000).ready();
    for (let at = 0; at < 6; at += 1) stage.text({ type: 'flush' });
    expect(stage.asked).toHaveLength(5);
    expect(stage.types()).toContain('error:flush_throttled');
    stage.nowMs = 1_000;
    stage.text({ type: 'flush' });
    expect(stage.asked).toHaveLength(6);
  });

  test('refuses a flush while 32 finals are pending, so that a backlog cannot fail the session', () => {
    const stage = new Stage(60_000).ready();
    for (let at = 0; at < 33; at += 1)
      stage
        .at(at * 250)
        .audio(3_200)
        .text({ type: 'flush' });
    expect(stage.asked).toHaveLength(32);
    for (let at = 0; at < 32; at += 1) stage.final(at);
    expect(stage.types().at(-1)).toBe('error:flush_throttled');
  });

  test('closes with 1008, billed, when too many replies wait behind a final', () => {
    const stage = new Stage(60_000).ready().audio(3_200).text({ type: 'flush' });
    for (let at = 0; at < 256; at += 1) stage.at(at * 60).text({ type: 'config' });
    expect(stage.final(0).ending).toMatchObject({ closeCode: 1008, status: 'completed' });
  });

  test('accepts a burst of 100 messages, then 20 a second, and closes the stream above that', () => {
    const stage = new Stage(60_000).ready();
    for (let at = 0; at < 100; at += 1) stage.text({ type: 'config' });
    stage.at(1_000);
    for (let at = 0; at < 20; at += 1) stage.text({ type: 'config' });
    expect(stage.ending).toBeNull();
    stage.text({ type: 'config' });
    expect(stage.ending).toMatchObject({ closeCode: 1008, reason: 'too_many_messages' });
  });

  test.each([0, 1, 2, LIMITS.tinyFrameBytes - 1])(
    'counts audio frames of %i bytes as messages: closes with 1008, billed, above 100 at once',
    (bytes) => {
      const stage = new Stage(60_000).ready();
      for (let at = 0; at < LIMITS.textMessagesBurst; at += 1) stage.audio(bytes);
      expect(stage.ending).toBeNull();
      // Their own audio earns a little back.
      for (let at = 0; at < 5; at += 1) stage.audio(bytes);
      if (stage.asked.includes('flush')) stage.final(0);
      expect(stage.ending).toMatchObject({
        closeCode: 1008,
        reason: 'too_many_errors',
        status: 'completed',
      });
    },
  );

  test('counts empty frames before ready and while the last final is pending', () => {
    const starting = new Stage(60_000);
    const finishing = new Stage(1_000).ready().audio(32_000);
    expect(finishing.state.phase).toBe('finishing');
    for (const stage of [starting, finishing]) {
      for (let at = 0; at <= LIMITS.textMessagesBurst; at += 1) stage.audio(0);
      if (stage === finishing) stage.final(0);
      expect(stage.ending).toMatchObject({ reason: 'too_many_errors' });
    }
  });

  test('shares one allowance between messages and tiny frames', () => {
    const stage = new Stage(60_000).ready();
    for (let at = 0; at < 50; at += 1) stage.audio(0).text({ type: 'config' });
    expect(stage.ending).toBeNull();
    expect(stage.text({ type: 'config' }).ending).toMatchObject({ reason: 'too_many_messages' });
  });

  test.each([
    ['the smallest frames that are not tiny, in real time', 64, 2],
    ['20 ms frames in real time', 640, 20],
    ['100 ms frames all at once', 3_200, 0],
    ['files sent at once, each with a tiny last frame', 3_202, 0],
  ])('never counts honest audio: %s', (_, bytes, everyMs) => {
    const stage = new Stage(300_000).ready();
    for (let at = 0; at < 2_000; at += 1) {
      stage.nowMs += everyMs;
      stage.audio(Math.min(3_200, bytes));
      if (bytes > 3_200) stage.audio(bytes - 3_200);
    }
    expect(stage.ending).toBeNull();
  });

  test('messages that bunch up behind audio get the time of that audio', () => {
    const stage = new Stage(300_000).ready();
    for (let at = 0; at < 250; at += 1) stage.audio(32_000).text({ type: 'config' });
    expect(stage.ending).toBeNull();
  });

  test('answers a flush of less than 100 ms of audio with an empty final, without decoding', () => {
    const stage = new Stage(60_000).ready().audio(3_198).text({ type: 'flush', id: 1 });
    expect(stage.asked).toEqual(['reset']);
    expect(stage.sent.at(-1)).toMatchObject({ type: 'final', text: '', id: 1, audio_ms: 100 });
  });

  test('sends an empty final after the finals of earlier flushes', () => {
    const stage = new Stage(60_000).ready().audio(32_000);
    stage.text({ type: 'flush', id: 1 }).audio(2).text({ type: 'flush', id: 2 }).final(0, 'a');
    expect(stage.sent.slice(1)).toMatchObject([
      { type: 'final', id: 1, text: 'a' },
      { type: 'final', id: 2, text: '' },
    ]);
  });

  test.each(['ki', 'kik', 'ki-KE', 'kik-KE', 'Kikuyu'])(
    'accepts config.language %s for a Kikuyu session',
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
    ['a term without a list', 'invalid_keyterms', { keyterms: 'Wanjirũ' }],
    ['numbers as text', 'invalid_numbers', { numbers: 'true' }],
    ['null for numbers', 'invalid_numbers', { numbers: null }],
  ])('answers config with %s with %s and keeps the stream open', (_, code, fields) => {
    const stage = new Stage(60_000).ready().text({ type: 'config', ...fields });
    expect(stage.sent.at(-1)).toMatchObject({ code, fatal: false, retryable: false });
    expect(stage.ending).toBeNull();
  });

  test('config sent during an utterance acts at once, and lists unknown fields', () => {
    const stage = new Stage(60_000).ready().audio(2).text({ type: 'config', colour: 'red' });
    expect(stage.sent.at(-1)).toMatchObject({ effective: 'now', ignored: ['colour'] });
  });

  test('keyterms apply at once before the first audio of an utterance, and else from the next one on', () => {
    const stage = new Stage(60_000).ready(true);
    stage.text({ type: 'config', keyterms: ['Wanjirũ'] });
    expect(stage.sent.at(-1)).toMatchObject({
      effective: 'now',
      keyterms: { taken: ['wanjirũ'], refused: [] },
    });
    stage.audio(640).text({ type: 'config', keyterms: [] });
    expect(stage.sent.at(-1)).toMatchObject({
      effective: 'next_utterance',
      keyterms: { taken: [], refused: [] },
    });
    stage.text({ type: 'reset' }).text({ type: 'config', keyterms: ['Otieno'] });
    expect(stage.sent.at(-1)).toMatchObject({ effective: 'now' });
    expect(stage.keyterms).toEqual([['wanjirũ'], [], ['otieno']]);
  });

  test('numbers apply to utterances that end after config, and stay until the next config names them', () => {
    const words = ['magana', 'matano'].map((text, i) => ({
      text,
      startMs: i * 10,
      endMs: i * 10 + 9,
    }));
    const said = { type: 'final', text: 'magana matano', words, samples: 16_000 } as const;
    const stage = new Stage(60_000).ready().audio(32_000).text({ type: 'flush' });
    stage.text({ type: 'config', numbers: true }).engine({ ...said, utterance: 0 });
    expect(stage.sent.at(-2)).not.toHaveProperty('text_formatted');
    expect(stage.sent.at(-1)).toMatchObject({ type: 'config_ack', numbers: true });
    stage.text({ type: 'config' });
    expect(stage.sent.at(-1)).toMatchObject({ type: 'config_ack', numbers: true });
    stage
      .audio(32_000)
      .text({ type: 'flush' })
      .engine({ ...said, utterance: 1 });
    expect(stage.sent.at(-1)).toMatchObject({
      text: 'magana matano',
      text_formatted: '500',
      entities: [{ kind: 'number', value: 500, start_ms: 1_000, end_ms: 1_019 }],
    });
    stage.text({ type: 'config', numbers: false }).audio(32_000).text({ type: 'flush' });
    expect(stage.engine({ ...said, utterance: 2 }).sent.at(-1)).not.toHaveProperty('entities');
  });

  test('text that is more than its words is formatted as it is', () => {
    const stage = new Stage(60_000).ready().text({ type: 'config', numbers: true });
    stage.audio(32_000).text({ type: 'flush' }).final(0, 'Magana matano.');
    expect(stage.sent.at(-1)).toMatchObject({ text_formatted: 'Magana matano.', entities: [] });
  });

  test('ready and config_ack say that the model takes no keyterms', () => {
    const stage = new Stage(60_000).ready().text({ type: 'config', keyterms: ['Wanjirũ'] });
    expect(stage.sent[0]).toMatchObject({ type: 'ready', keyterms: null });
    const refused = [{ index: 0, reason: 'not_supported' }];
    expect(stage.sent.at(-1)).toMatchObject({ keyterms: { taken: [], refused } });
    expect(stage.keyterms).toEqual([]);
  });

  test('answers twelve flushes of 200 ms that arrive at once after back-pressure', () => {
    const stage = new Stage(300_000).ready();
    for (let at = 0; at < 12; at += 1) stage.audio(6_400).text({ type: 'flush', id: at });
    expect(stage.asked).toHaveLength(12);
    expect(stage.types()).not.toContain('error:flush_throttled');
  });

  test('ready says how many keyterms the model takes', () => {
    const stage = new Stage(60_000).ready(true);
    expect(stage.sent[0]).toMatchObject({ keyterms: { max_terms: 100, max_chars: 1_000 } });
  });

  test('a config with one bad field names every field that was not applied', () => {
    const stage = new Stage(60_000).ready();
    stage.text({ type: 'config', id: 7, numbers: true, keyterms: 'x', endpointing: {} });
    expect(stage.sent.at(-1)).toMatchObject({
      code: 'invalid_keyterms',
      id: 7,
      ignored: ['numbers', 'keyterms', 'endpointing'],
    });
    stage.text({ type: 'config' });
    expect(stage.sent.at(-1)).toMatchObject({ numbers: false, endpointing: false });
  });

  test('reports odd_byte_carried once', () => {
    const stage = new Stage(60_000).ready().audio(3).audio(3).audio(5);
    expect(stage.types().filter((type) => type === 'status:odd_byte_carried')).toHaveLength(1);
  });
});

describe('timeouts and endings', () => {
  test('fails the session with 1013 when the engine is not ready within 20 s', () => {
    const stage = new Stage(5_000).at(LIMITS.initializationMs - 1);
    expect(stage.ending).toBeNull();
    stage.at(LIMITS.initializationMs);
    expect(stage.ending).toEqual({
      status: 'failed',
      closeCode: 1013,
      reason: 'initialization_timeout',
    });
  });

  test.each([
    ['idle_timeout', 4408, (stage: Stage) => stage.at(60_000)],
    ['session_time_limit', 4408, (stage: Stage) => stage.at(LIMITS.sessionWallClockMs)],
    ['closing', 1000, (stage: Stage) => stage.close()],
  ])('%s: sends the final of accepted audio before it closes', (reason, closeCode, end) => {
    const stage = new Stage(60_000).ready().audio(32_000);
    end(stage);
    expect(stage.ending).toBeNull();
    stage.final(0, 'nĩ wega');
    expect(stage.sent.filter(({ type }) => type === 'final')).toMatchObject([
      { reason, text: 'nĩ wega' },
    ]);
    expect(stage.ending).toMatchObject({ status: 'completed', closeCode });
  });

  test('a flush before a close gets its final while the recogniser works, however long it needs', () => {
    const stage = new Stage(60_000).ready().audio(32_000).text({ type: 'flush', id: 1 });
    stage.audio(64_000).close().at(14_000).delta(0, 'nĩ').at(28_000);
    expect(stage.ending).toBeNull();
    stage.final(0, 'nĩ').final(1, 'wega');
    expect(stage.sent.slice(-2)).toMatchObject([
      { type: 'final', id: 1, text: 'nĩ' },
      { type: 'final', reason: 'closing', text: 'wega' },
    ]);
    expect(stage.ending).toEqual({ status: 'completed', closeCode: 1000, reason: 'completed' });
    expect(stage.chargedSamples).toBe(48_000);
  });

  test('fails a closed stream with an error, unbilled, when the recogniser is silent for 15 s', () => {
    const stage = new Stage(60_000).ready().audio(32_000).text({ type: 'flush' }).final(0, 'nĩ');
    stage.audio(64_000).close().at(14_500);
    expect(stage.ending).toBeNull();
    stage.at(15_000);
    expect(stage.sent.at(-1)).toMatchObject({ type: 'error', code: 'internal_error', fatal: true });
    expect(stage.ending).toEqual({ status: 'failed', closeCode: 1011, reason: 'internal_error' });
  });

  test('a close gives the recogniser its 15 s, however long it was silent before', () => {
    const stage = new Stage(2_000).ready().audio(64_000).at(20_000).close().at(34_000);
    expect(stage.ending).toBeNull();
    stage.final(0, 'nĩ wega');
    expect(stage.ending).toMatchObject({ status: 'completed', reason: 'completed' });
  });

  test('closes with 4408 idle_timeout 60 s after the last accepted audio', () => {
    const stage = new Stage(300_000).ready().at(59_000).audio(2).at(118_999);
    expect(stage.ending).toBeNull();
    stage.at(119_000);
    expect(stage.ending).toEqual({ status: 'completed', closeCode: 4408, reason: 'idle_timeout' });
  });

  test('does not count a client as idle while backpressure stops reading from it', () => {
    const stage = new Stage(300_000).ready();
    const [, actions] = onTick(stage.state, { nowMs: 61_000, reading: false });
    expect(actions).toEqual([]);
  });

  test('does not count a client as idle while it waits for a final', () => {
    const stage = new Stage(300_000).ready().audio(32_000).text({ type: 'flush' }).at(70_000);
    expect(stage.ending).toBeNull();
    stage.final(0, 'nĩ wega').at(129_999);
    expect(stage.ending).toBeNull();
    stage.at(130_000);
    expect(stage.ending).toEqual({ status: 'completed', closeCode: 4408, reason: 'idle_timeout' });
  });

  test('a flush does not extend the idle timeout', () => {
    const stage = new Stage(300_000).ready().audio(32_000).at(59_000).text({ type: 'flush' });
    stage.final(0, 'nĩ wega').at(60_000);
    expect(stage.ending).toEqual({ status: 'completed', closeCode: 4408, reason: 'idle_timeout' });
  });

  test('closes with 4408 session_time_limit after 15 minutes', () => {
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

  test('at the drain deadline a stream that owes no final sends none', () => {
    const stage = new Stage(60_000).ready().audio(32_000).text({ type: 'flush' }).final(0, 'nĩ');
    stage.drain(1_000).drainDeadline();
    expect(stage.types().filter((type) => type === 'final')).toHaveLength(1);
    expect(stage.ending).toMatchObject({ status: 'failed', reason: 'service_restart' });
  });

  test('a drain sends its deadline at once; at the deadline it sends the final and closes with 1012, unbilled', () => {
    const stage = new Stage(60_000).ready().audio(32_000).drain(330_000);
    expect(stage.sent.at(-1)).toMatchObject({ code: 'draining', deadline_ms: 330_000 });
    stage.drainDeadline().final(0, 'nĩ wega');
    expect(stage.sent.slice(-2)).toMatchObject([
      { type: 'final', reason: 'draining', text: 'nĩ wega' },
      { type: 'error', code: 'service_restart', retryable: true },
    ]);
    expect(stage.ending).toEqual({ status: 'failed', closeCode: 1012, reason: 'service_restart' });
  });

  test('charges a session that ends by a deadline of the recogniser', () => {
    const stage = new Stage(10_000).ready().audio(32_000);
    stage.engine({ type: 'error', reason: 'deadline_exceeded' });
    expect(stage.ending).toMatchObject({ status: 'completed', reason: 'idle_timeout' });
  });

  test('closes with 1011, unbilled, when the engine fails', () => {
    const stage = new Stage(60_000).ready().engine({ type: 'error', reason: 'child_died' });
    expect(stage.types()).toEqual(['ready', 'error:internal_error']);
    expect(stage.ending).toEqual({ status: 'failed', closeCode: 1011, reason: 'internal_error' });
  });

  test('keeps waiting, and bills the stream, while slow finals keep arriving', () => {
    const stage = new Stage(2_000).ready().audio(32_000).text({ type: 'flush' }).audio(32_000);
    stage.at(29_000).final(0, 'nĩ wega').at(58_000);
    expect(stage.ending).toBeNull();
    stage.final(1, 'mũno');
    expect(stage.ending).toMatchObject({ status: 'completed', reason: 'max_audio_reached' });
  });

  test('fails the stream when the last final does not arrive within 30 s of the previous one', () => {
    const stage = new Stage(2_000).ready().audio(32_000).text({ type: 'flush' }).audio(32_000);
    stage.at(29_000).final(0, 'nĩ wega').at(59_000);
    expect(stage.ending).toMatchObject({ status: 'failed', reason: 'internal_error' });
  });

  test('fails the stream with 1011 when the last final never arrives', () => {
    const stage = new Stage(1_000).ready().audio(32_000).at(30_000);
    expect(stage.ending).toMatchObject({ status: 'failed', closeCode: 1011 });
  });
});
