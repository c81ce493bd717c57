import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HOP_SAMPLES, VoiceActivity } from '@svc-asr/engine/core.ts';
import { AUDIO, type FinalEvent, type ServerEvent } from '@svc-asr/protocol';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { onPeeked } from './endpointing.ts';
import { parseTextMessage } from './pcm-frames.ts';
import { onMessage } from './stream-messages.ts';
import { startStream, type Step, type StreamState } from './stream-state.ts';
import { onAudio, onDrainDeadline, onEngineEvent, onReady, onTick } from './stream.ts';

const BYTES_PER_MS = (AUDIO.sampleRateHz / 1000) * AUDIO.bytesPerSample;
const FRAME_MS = 100;
const SPOKEN = speech('kikuyu-1').pcm;
const SESSION = {
  sessionId: '3f0f5fd0-5f3c-4ad6-8a53-9d2a4b0f6a11',
  requestId: '9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d',
  model: 'svc-asr-kikuyu-v1',
  reservedMs: 300_000,
} as const;

/** Drives the rules with an engine that answers flushes in order, on demand. */
function wordsOf(text: string) {
  const words = text === '' ? [] : text.split(' ');
  return words.map((word) => ({ text: word, startMs: 0, endMs: 80, confidence: 0.5 }));
}

class Driver {
  state: StreamState = startStream({ session: SESSION, nowMs: 0 });
  readonly sent: ServerEvent[] = [];
  /** Audio that the engine got, by utterance. */
  readonly fedBytes: number[] = [0];
  readonly pending: number[] = [];
  readonly peeks: number[] = [];
  isEnded = false;
  nowMs = 0;
  #detector = new VoiceActivity();
  /** What the second detector says. */
  probability: number | null = null;

  constructor(endpointing: unknown = {}, canConfirm = false, canPeek = false) {
    const can = { canConfirm, canPeek };
    this.#take(onReady(this.state, { chunkSamples: 17_920, nowMs: 0, ...can }));
    this.message({ type: 'config', endpointing });
  }

  /** Sends speech or silence in frames of 100 ms, in real time or faster. */
  audio(kind: 'speech' | 'silence', ms: number, speed = 1): this {
    for (let at = 0; at < ms; at += FRAME_MS) {
      const bytes = Math.min(FRAME_MS, ms - at) * BYTES_PER_MS;
      const from = (at * BYTES_PER_MS) % (SPOKEN.byteLength - bytes);
      const frame = kind === 'silence' ? new Uint8Array(bytes) : SPOKEN.slice(from, from + bytes);
      this.frame(frame, FRAME_MS / speed);
    }
    return this;
  }

  /** Sends one frame after a pause of `ms`, all of it with one probability of speech. */
  frame(frame: Uint8Array, ms = FRAME_MS, probability: number | null = this.probability): this {
    this.nowMs += ms;
    const startSample = this.state.meter.acceptedSamples;
    const hops = Math.floor(frame.byteLength / 2 / HOP_SAMPLES);
    const voice =
      probability === null
        ? null
        : { startSample, probabilities: new Float32Array(hops).fill(probability) };
    const detector = this.#detector;
    return this.#take(onAudio(this.state, { frame, nowMs: this.nowMs, detector, voice }));
  }

  message(message: unknown): this {
    const parsed = parseTextMessage(Buffer.from(JSON.stringify(message)));
    this.#take(onMessage(this.state, { message: parsed, nowMs: this.nowMs }));
    if (this.state.turns === null) this.#detector = new VoiceActivity();
    return this;
  }

  /** The engine answers its oldest flush. */
  answer(text: string): this {
    const utterance = this.pending.shift();
    if (utterance === undefined) return this;
    const words = wordsOf(text);
    return this.#take(
      onEngineEvent(this.state, {
        event: { type: 'final', utterance, text, words, samples: 0 },
        nowMs: 0,
      }),
    );
  }

  /** The engine answers the newest question about the text so far. */
  peeked(text: string): this {
    const number = this.peeks.at(-1) ?? 0;
    return this.#take(onPeeked(this.state, { number, text, words: wordsOf(text) }));
  }

  answerAll(text: string): this {
    while (this.pending.length > 0) this.answer(text);
    return this;
  }

  tick(ms: number): this {
    this.nowMs += ms;
    return this.#take(onTick(this.state, { nowMs: this.nowMs, reading: true }));
  }

  drainDeadline(): this {
    return this.#take(onDrainDeadline(this.state, this.nowMs));
  }

  finals(): FinalEvent[] {
    return this.sent.filter((event) => event.type === 'final');
  }

  types(): string[] {
    return this.sent.map(({ type }) => type).filter((type) => type !== 'ready');
  }

  #take([state, actions]: Step): this {
    this.state = state;
    for (const action of actions) {
      if (action.do === 'send') this.sent.push(action.event);
      if (action.do === 'close') this.isEnded = true;
      const current = this.fedBytes.length - 1;
      if (action.do === 'feed') {
        this.fedBytes[current] = (this.fedBytes[current] ?? 0) + action.pcm.byteLength;
      }
      if (action.do === 'peek') this.peeks.push(action.number);
      if (action.do === 'flush') this.pending.push(current);
      if (action.do === 'flush' || action.do === 'reset') this.fedBytes.push(0);
    }
    return this;
  }
}

describe('config.endpointing', () => {
  test('is acknowledged with the values in force', () => {
    const { sent } = new Driver({ silence_ms: 500 });
    expect(sent.at(-1)).toMatchObject({
      type: 'config_ack',
      endpointing: { silence_ms: 500, max_utterance_ms: 30_000 },
    });
    expect(new Driver(false).sent.at(-1)).toMatchObject({ endpointing: false });
  });

  test.each([
    true,
    null,
    [],
    { silence_ms: 199 },
    { silence_ms: 5_001 },
    { silence_ms: 700.5 },
    { silence_ms: '700' },
    { max_utterance_ms: 4_999 },
    { max_utterance_ms: 60_001 },
  ])('refuses %j and changes nothing', (endpointing) => {
    const driver = new Driver({ silence_ms: 500 }).message({ type: 'config', endpointing });
    expect(driver.sent.at(-1)).toMatchObject({ type: 'error', code: 'invalid_endpointing' });
    driver.message({ type: 'config' });
    expect(driver.sent.at(-1)).toMatchObject({ endpointing: { silence_ms: 500 } });
  });
});

test('the state of a stream holds only values', () => {
  const { state } = new Driver().audio('speech', 1_000).audio('silence', 1_000);
  expect(structuredClone(state)).toStrictEqual(state);
});

/** Noise at about -50 dB: a whispered s, too quiet to be speech on its own. */
function hiss(ms: number): Uint8Array {
  const samples = Int16Array.from(
    { length: ms * 16 },
    (_, at) => ((at * 7_919 + (at >> 3) * 104_729) % 361) - 180,
  );
  return new Uint8Array(samples.buffer);
}

function speechEvents(driver: Driver): string[] {
  return driver.types().filter((type) => type.startsWith('speech_'));
}

describe('switching endpointing in mid-speech', () => {
  test('off ends the announced speech, before the acknowledgement', () => {
    const driver = new Driver().audio('speech', 1_000);
    driver.message({ type: 'config', endpointing: false });
    expect(driver.types().slice(-3)).toEqual(['speech_started', 'speech_ended', 'config_ack']);
    expect(driver.sent.at(-1)).toMatchObject({ endpointing: false, effective: 'now' });
    driver.audio('speech', 1_000).audio('silence', 2_000);
    expect(speechEvents(driver)).toEqual(['speech_started', 'speech_ended']);
  });

  test('off and on again announces a second pair', () => {
    const driver = new Driver().audio('speech', 1_000);
    driver.message({ type: 'config', endpointing: false });
    driver.message({ type: 'config', endpointing: {} });
    driver.audio('speech', 1_000).audio('silence', 2_000);
    const pair = ['speech_started', 'speech_ended'];
    expect(speechEvents(driver)).toEqual([...pair, ...pair]);
  });

  test('new values keep the announced speech', () => {
    const driver = new Driver().audio('speech', 1_000);
    driver.message({ type: 'config', endpointing: { silence_ms: 400 } });
    expect(speechEvents(driver)).toEqual(['speech_started']);
  });
});

describe('an endpoint', () => {
  test('ends the utterance after the silence, with speech events around it', () => {
    const driver = new Driver()
      .audio('silence', 500)
      .audio('speech', 1_500)
      .audio('silence', 1_000);
    driver.answer('mũndũ');
    expect(driver.types()).toEqual(['config_ack', 'speech_started', 'speech_ended', 'final']);
    const [final] = driver.finals();
    expect(final).toMatchObject({ reason: 'endpoint', utterance: 0, start_ms: 0, confidence: 0.5 });
    expect(final?.end_ms).toBeGreaterThanOrEqual(2_000 + 500);
    expect(final?.end_ms).toBeLessThanOrEqual(2_000 + 800);
  });

  test('waits for a sound that has just begun, which may be the quiet start of a word', () => {
    const driver = new Driver({ silence_ms: 500 })
      .audio('silence', 500)
      .audio('speech', 1_500)
      .audio('silence', 400);
    driver.frame(hiss(100)).frame(hiss(100));
    expect(driver.pending).toHaveLength(0);
    driver.audio('speech', 1_000);
    expect(driver.pending).toHaveLength(0);
    driver.audio('silence', 1_000).answer('mũndũ');
    expect(driver.finals()).toHaveLength(1);
  });

  test('comes in spite of a quiet sound that goes on', () => {
    const driver = new Driver({ silence_ms: 500 }).audio('speech', 1_500).audio('silence', 400);
    for (let times = 0; times < 4; times += 1) driver.frame(hiss(100));
    expect(driver.pending).toHaveLength(1);
  });

  test('is found in frames at an odd offset of the read buffer, as after an odd-length message', () => {
    const driver = new Driver();
    const silence = new Uint8Array(1_000 * BYTES_PER_MS);
    const packet = Buffer.concat([Buffer.alloc(1), SPOKEN, silence]);
    const frameBytes = FRAME_MS * BYTES_PER_MS;
    for (let at = 1; at < packet.byteLength; at += frameBytes) {
      driver.frame(packet.subarray(at, at + frameBytes));
    }
    driver.answerAll('mũndũ');
    expect(driver.types()).toEqual(['config_ack', 'speech_started', 'speech_ended', 'final']);
  });

  test('is not sent unless the client enables endpointing', () => {
    const driver = new Driver(false).audio('speech', 1_500).audio('silence', 3_000);
    expect(driver.pending).toEqual([]);
    expect(driver.types()).toEqual(['config_ack']);
  });

  test('is sent after 15 s when audio stops arriving in the middle of speech', () => {
    const driver = new Driver().audio('speech', 1_200).tick(14_999);
    expect(driver.pending).toEqual([]);
    driver.tick(1);
    expect(driver.pending).toEqual([0]);
    expect(driver.types()).toContain('speech_ended');
    expect(driver.tick(5_000).pending).toEqual([0]);
  });

  test.each([1_000, 3_000, 10_000])(
    'a stall of %i ms cuts no word, live or from a file, and counts as no silence',
    (stallMs) => {
      for (const speed of [1, 10]) {
        const driver = new Driver({ silence_ms: 700 }).audio('speech', 1_200, speed);
        for (let ms = 0; ms < stallMs; ms += 250) driver.tick(250);
        driver.audio('speech', 1_200, 50).audio('silence', 500, speed);
        for (let ms = 0; ms < stallMs; ms += 250) driver.tick(250);
        expect(driver.pending).toEqual([]);
        expect(driver.types().filter((type) => type.startsWith('speech_'))).toEqual([
          'speech_started',
        ]);
        driver.audio('silence', 500, speed);
        expect(driver.pending).toEqual([0]);
      }
    },
  );

  test('is sent at max_utterance_ms at the latest, or at a short pause just before it', () => {
    const driver = new Driver({ silence_ms: 2_000, max_utterance_ms: 5_000 });
    driver.audio('speech', 12_000).answerAll('mũndũ');
    for (const { audio_ms } of driver.finals()) expect(audio_ms).toBeLessThanOrEqual(5_000);
    expect(driver.finals().length).toBeGreaterThanOrEqual(2);
    const paused = new Driver({ silence_ms: 2_000, max_utterance_ms: 5_000 });
    paused.audio('speech', 3_900).audio('silence', 400).answerAll('mũndũ');
    expect(paused.finals()).toHaveLength(1);
  });

  test('without a recognised word is not sent, and its audio joins the next utterance', () => {
    const driver = new Driver().audio('speech', 1_000).audio('silence', 1_000).answer('');
    expect(driver.finals()).toEqual([]);
    driver.audio('speech', 1_000).audio('silence', 1_000).answer('mũndũ');
    const [final] = driver.finals();
    expect(final).toMatchObject({ utterance: 1, start_ms: 0 });
    // Word times count from the start of the engine's utterance, not of the joined audio.
    expect(final?.words[0]?.start_ms).toBeGreaterThan(1_000);
  });

  test('leaves a flush its own final, in order', () => {
    const driver = new Driver().audio('speech', 1_000).audio('silence', 1_000);
    driver.audio('speech', 500).message({ type: 'flush', id: 'mine' });
    driver.answer('mũndũ').answer('mũgo');
    expect(driver.finals().map(({ reason, text }) => [reason, text])).toEqual([
      ['endpoint', 'mũndũ'],
      ['flush', 'mũgo'],
    ]);
  });

  test('does not shift timestamps: after 50 endpoints they have not drifted', () => {
    const driver = new Driver();
    for (let turn = 0; turn < 50; turn += 1) {
      driver.audio('speech', 900).audio('silence', 1_100).answerAll('mũndũ');
    }
    driver.message({ type: 'flush' }).answer('mũgo');
    const finals = driver.finals();
    expect(finals.filter(({ reason }) => reason === 'endpoint')).toHaveLength(50);
    expect(finals.at(-1)?.end_ms).toBe(100_000);
    for (const [at, final] of finals.entries()) {
      expect(final.start_ms).toBe(finals[at - 1]?.end_ms ?? 0);
    }
  });
});

type Command =
  | { readonly do: 'speech' | 'silence'; readonly ms: number }
  | { readonly do: 'flush' | 'reset' | 'answer' | 'answer empty' | 'stall' | 'drain' };

const command: fc.Arbitrary<Command> = fc.oneof(
  fc.record({
    do: fc.constantFrom('speech' as const, 'silence' as const),
    ms: fc.integer({ min: 1, max: 30 }).map((hundreds) => hundreds * 100),
  }),
  fc.record({
    do: fc.constantFrom(
      'flush' as const,
      'reset' as const,
      'answer' as const,
      'answer empty' as const,
      'stall' as const,
      'drain' as const,
    ),
  }),
);

function applyCommand(driver: Driver, command: Command): void {
  switch (command.do) {
    case 'speech':
    case 'silence':
      driver.audio(command.do, command.ms);
      break;
    case 'flush':
    case 'reset':
      driver.tick(300).message({ type: command.do });
      break;
    case 'answer':
      driver.answer('mũndũ');
      break;
    case 'answer empty':
      driver.answer('');
      break;
    case 'stall':
      driver.tick(1_500);
      break;
    case 'drain':
      driver.drainDeadline();
      break;
  }
}

test('any interleaving puts each accepted sample into exactly one final or reset', () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 30 }), (commands) => {
      const driver = new Driver({ silence_ms: 300, max_utterance_ms: 5_000 });
      for (const one of commands) applyCommand(driver, one);
      if (!driver.isEnded) driver.tick(300).message({ type: 'flush' });
      driver.answerAll('mũndũ');
      const covered = driver.sent.flatMap((event) => {
        if (event.type === 'final') return [[event.start_ms, event.end_ms] as const];
        if (event.type !== 'reset_ack') return [];
        return [[event.total_audio_ms - event.discarded_ms, event.total_audio_ms] as const];
      });
      let at = 0;
      for (const [start, end] of covered) {
        expect(start).toBe(at);
        at = end;
      }
      expect(at).toBe(driver.state.meter.acceptedSamples / 16);
      // The engine received exactly the accepted audio.
      const fed = driver.fedBytes.reduce((sum, bytes) => sum + bytes, 0);
      expect(fed / AUDIO.bytesPerSample).toBe(driver.state.meter.acceptedSamples);
      const speechEvents = driver.types().filter((type) => type.startsWith('speech_'));
      for (const [at, type] of speechEvents.entries()) {
        expect(type).toBe(at % 2 === 0 ? 'speech_started' : 'speech_ended');
      }
    }),
    { numRuns: 300 },
  );
});

describe('the confirmed detector', () => {
  const CONFIRMED = { silence_ms: 500, detector: 'confirmed' };

  test('is in force only where there is a second detector', () => {
    const ackOf = (driver: Driver): unknown =>
      driver.sent.find(({ type }) => type === 'config_ack');
    const level = { endpointing: { detector: 'level' } };
    expect(ackOf(new Driver(CONFIRMED))).toMatchObject(level);
    const confirmed = { endpointing: { silence_ms: 500, detector: 'confirmed' } };
    expect(ackOf(new Driver(CONFIRMED, true))).toMatchObject(confirmed);
    expect(ackOf(new Driver({}, true))).not.toHaveProperty('endpointing.detector');
    expect(new Driver({}, true).state.turns).toMatchObject({ isConfirming: true });
    expect(new Driver({ detector: 'level' }, true).state.turns).toMatchObject({
      isConfirming: false,
    });
    // Each message replaces the one before it whole.
    const driver = new Driver({ detector: 'level' }, true);
    driver.message({ type: 'config', endpointing: { silence_ms: 500 } });
    expect(driver.sent.at(-1)).not.toHaveProperty('endpointing.detector');
    expect(driver.state.turns).toMatchObject({ isConfirming: true });
    const refused = new Driver({ detector: 'silero' }, true);
    expect(refused.sent.at(-1)).toMatchObject({ type: 'error', code: 'invalid_endpointing' });
  });

  test('announces confirmed speech as such', () => {
    const driver = new Driver(CONFIRMED, true);
    driver.probability = 0.9;
    driver.audio('speech', 500);
    expect(driver.sent.at(-1)).toMatchObject({ type: 'speech_started', confirmed: true });
  });

  test('announces unconfirmed speech late, and before its end', () => {
    const driver = new Driver(CONFIRMED, true);
    driver.probability = 0.1;
    driver.audio('speech', 400);
    expect(driver.sent.map(({ type }) => type)).not.toContain('speech_started');
    driver.audio('silence', 700);
    const events = driver.sent.filter(({ type }) => type.startsWith('speech_'));
    expect(events).toMatchObject([
      { type: 'speech_started', confirmed: false },
      { type: 'speech_ended' },
    ]);
  });

  test('ends a turn at the pause that the second detector hears, although a sound goes on', () => {
    const driver = new Driver(CONFIRMED, true);
    driver.probability = 0.9;
    driver.audio('speech', 1_000);
    driver.probability = 0;
    driver.audio('speech', 800);
    expect(driver.pending).toHaveLength(1);
  });

  test('says nothing about confirmation while the second detector is silent', () => {
    const driver = new Driver(CONFIRMED, true);
    driver.audio('speech', 500);
    const started = driver.sent.find(({ type }) => type === 'speech_started');
    expect(started).toBeDefined();
    expect(started).not.toHaveProperty('confirmed');
  });
});

function eagerTypes(driver: Driver): string[] {
  return driver.types().filter((type) => type.startsWith('turn_') || type === 'final');
}

describe('eager_ms', () => {
  const EAGER = { silence_ms: 700, eager_ms: 300 };

  function paused(): Driver {
    return new Driver(EAGER, false, true).audio('speech', 900).audio('silence', 500);
  }

  test('is acknowledged, or listed as ignored where the model cannot', () => {
    const ack = new Driver(EAGER, false, true).sent.at(-1);
    expect(ack).toMatchObject({ endpointing: { eager_ms: 300 }, ignored: [] });
    const refused = new Driver(EAGER).sent.at(-1);
    expect(refused).toMatchObject({ ignored: ['endpointing.eager_ms'] });
    expect(refused).not.toHaveProperty('endpointing.eager_ms');
  });

  test.each([159, 601, 300.5, '300', null])('of %s is refused', (eager_ms) => {
    const { sent } = new Driver({ silence_ms: 700, eager_ms }, false, true);
    expect(sent.at(-1)).toMatchObject({ type: 'error', code: 'invalid_endpointing' });
  });

  test('is asked once per pause, and the final says whether its text is the same', () => {
    const same = paused().peeked('nĩ wega');
    expect(same.peeks).toEqual([1]);
    const eager = { type: 'turn_eager', utterance: 0, eager: 1, text: 'nĩ wega', confidence: 0.5 };
    expect(same.sent.at(-1)).toMatchObject(eager);
    same.audio('silence', 500).answer('nĩ wega');
    expect(same.finals()).toMatchObject([{ text: 'nĩ wega', eager: 1 }]);
    expect(eagerTypes(same)).toEqual(['turn_eager', 'final']);
    const other = paused().peeked('nĩ').audio('silence', 500).answer('nĩ wega');
    expect(other.finals()[0]).not.toHaveProperty('eager');
  });

  test('has numbers as digits if the final will', () => {
    expect(paused().peeked('magana matano').sent.at(-1)).not.toHaveProperty('text_formatted');
    const driver = paused().message({ type: 'config', numbers: true }).peeked('magana matano');
    const said = { text: 'magana matano', text_formatted: '500' };
    expect(driver.sent.at(-1)).toMatchObject({ type: 'turn_eager', ...said });
    driver.audio('silence', 500).answer('magana matano');
    expect(driver.finals()).toMatchObject([{ ...said, eager: 1 }]);
  });

  test('is taken back when speech goes on', () => {
    const driver = paused().peeked('nĩ wega').audio('speech', 900);
    expect(driver.sent.at(-1)).toMatchObject({ type: 'turn_resumed', utterance: 0, eager: 1 });
    driver.audio('silence', 500).peeked('nĩ wega mũno').audio('silence', 500);
    driver.answer('nĩ wega mũno');
    expect(driver.finals()).toMatchObject([{ eager: 2 }]);
    expect(eagerTypes(driver)).toEqual(['turn_eager', 'turn_resumed', 'turn_eager', 'final']);
  });

  test('sends nothing for an empty text or a late answer', () => {
    expect(eagerTypes(paused().peeked(''))).toEqual([]);
    const late = paused().audio('speech', 900).peeked('nĩ wega');
    expect(eagerTypes(late)).toEqual([]);
    const ended = paused().audio('silence', 500).peeked('nĩ wega').answer('nĩ wega');
    expect(eagerTypes(ended)).toEqual(['final']);
  });

  test.each([
    ['a reset', { type: 'reset' }],
    ['turning endpointing off', { type: 'config', endpointing: false }],
  ])('is taken back by %s', (_, message) => {
    const driver = paused().peeked('nĩ wega').message(message);
    expect(eagerTypes(driver)).toEqual(['turn_eager', 'turn_resumed']);
  });

  test('is resolved by the final of a flush, and taken back if an endpoint gets none', () => {
    const flushed = paused().peeked('nĩ wega').message({ type: 'flush' }).answer('nĩ wega');
    expect(flushed.finals()).toMatchObject([{ reason: 'flush', eager: 1 }]);
    const empty = paused().peeked('nĩ wega').audio('silence', 500).answer('');
    expect(eagerTypes(empty)).toEqual(['turn_eager', 'turn_resumed']);
  });
});
