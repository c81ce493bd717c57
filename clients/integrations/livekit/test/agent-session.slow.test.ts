import { setTimeout as sleep } from 'node:timers/promises';
import { ReadableStream, type ReadableStreamDefaultController } from 'node:stream/web';
import { initializeLogger, llm, voice } from '@livekit/agents';
import type { AudioFrame } from '@livekit/rtc-node';
import { startEmulator, type Emulator } from '@svc-asr/emulator';
import { SvcClient } from '@svc-asr/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SvcSTT } from '../src/index.ts';
import { SENTENCE_MS, turn } from './audio.ts';

const TEXT = 'ũhoro waku mũrata wakwa';
const TURNS = 20;
const TIMED_TURNS = 3;

let emulator: Emulator;
beforeAll(async () => {
  initializeLogger({ pretty: false, level: 'silent' });
  emulator = await startEmulator({ texts: [TEXT], shortestMs: 1_000 });
});
afterAll(() => emulator.stop());

/** The session's audio input, fed by the test. */
class Line extends voice.AudioInput {
  #controller: ReadableStreamDefaultController<AudioFrame> | null = null;

  constructor() {
    super();
    const source = new ReadableStream<AudioFrame>({
      start: (controller) => {
        this.#controller = controller;
      },
    });
    this.multiStream.addInputStream(source);
  }

  speak(): void {
    for (const frame of turn(1_000)) this.#controller?.enqueue(frame);
  }

  /** Speaks in real time. Returns when the silence after the sentence began. */
  async speakLive(): Promise<number> {
    const beganMs = performance.now();
    let sentMs = 0;
    for (const frame of turn(2_000)) {
      await sleep(Math.max(0, beganMs + sentMs - performance.now()));
      this.#controller?.enqueue(frame);
      sentMs += 20;
    }
    return beganMs + SENTENCE_MS;
  }
}

function startSession(
  speech: SvcSTT,
  line: Line,
  model: llm.LLM = new voice.testing.FakeLLM([{ input: TEXT, content: 'wega' }]),
): voice.AgentSession {
  const session = new voice.AgentSession({
    stt: speech,
    llm: model,
    turnHandling: { turnDetection: 'stt', endpointing: { minDelay: 0, maxDelay: 100 } },
  });
  session.input.audio = line;
  return session;
}

function texts(session: voice.AgentSession, role: llm.ChatRole = 'user'): string[] {
  return session.history.items
    .filter((item) => item instanceof llm.ChatMessage && item.role === role)
    .map((item) => (item instanceof llm.ChatMessage ? (item.textContent ?? '') : ''));
}

test('an AgentSession completes 20 turns through crashes, restarts, lost connections and the audio limit', async () => {
  const client = new SvcClient({ baseUrl: emulator.url, apiKey: emulator.apiKey });
  const before = (await client.usage.get()).recent_sessions.length;
  const line = new Line();
  // A session holds two and a half turns, so the audio limit falls inside turns.
  const speech = new SvcSTT({
    client,
    model: 'svc-asr-kikuyu-v1',
    silenceMs: 500,
    maxAudioSeconds: 9,
  });
  const session = startSession(speech, line);
  await session.start({ agent: new voice.Agent({ instructions: 'Answer.' }) });
  const faults = ['engine-crash', 'restart', 'connection-lost', 'unavailable'] as const;
  // A fault stays armed until it happens, so a fault that is no longer armed has happened.
  const struck: string[] = [];
  let waiting: (typeof faults)[number] | null = null;
  for (let at = 0; at < TURNS; at += 1) {
    if (waiting !== null && emulator.faults.armed.length === 0) {
      struck.push(waiting);
      waiting = null;
    }
    if (waiting === null) {
      waiting = faults[struck.length % faults.length] ?? 'restart';
      emulator.faults.arm({ name: waiting, ms: 700, times: 1 });
    }
    line.speak();
    await expect.poll(() => texts(session).length, { timeout: 20_000 }).toBe(at + 1);
  }
  emulator.faults.clear();
  expect(new Set(struck)).toEqual(new Set(faults));
  const heard = texts(session);
  await session.close();
  // The scripted recogniser returns the whole sentence for each session that receives part of a turn.
  for (const text of heard) {
    expect(text).toContain(TEXT);
    expect(text.replaceAll(TEXT, '').trim()).toBe('');
  }
  expect(heard).toHaveLength(TURNS);
  const used = (await client.usage.get()).recent_sessions;
  expect(used.length - before).toBeGreaterThan(8);
});

/** Takes 400 ms for its first word. */
class Model extends voice.testing.FakeLLM {
  readonly #onAsked: () => void;

  constructor(onAsked: () => void) {
    super([{ input: TEXT, content: 'wega', ttft: 400 }]);
    this.#onAsked = onAsked;
  }

  override chat(input: Parameters<voice.testing.FakeLLM['chat']>[0]): llm.LLMStream {
    this.#onAsked();
    return super.chat(input);
  }
}

/** Returns the questions to the language model and the finals, in order. Prints when the turns and the answers came. */
async function converse(eagerMs: number | undefined): Promise<('asked' | 'final')[]> {
  const seen: ('asked' | 'final')[] = [];
  const client = new SvcClient({ baseUrl: emulator.url, apiKey: emulator.apiKey });
  const line = new Line();
  const eager = eagerMs === undefined ? {} : { eagerMs };
  const speech = new SvcSTT({ client, language: 'ki', silenceMs: 700, ...eager });
  const session = startSession(speech, line, new Model(() => seen.push('asked')));
  const finalMs: number[] = [];
  session.on(voice.AgentSessionEventTypes.UserInputTranscribed, ({ isFinal }) => {
    if (!isFinal) return;
    seen.push('final');
    finalMs.push(performance.now());
  });
  const committedMs: number[] = [];
  const answeredMs: number[] = [];
  session.on(voice.AgentSessionEventTypes.ConversationItemAdded, ({ item }) => {
    if (!(item instanceof llm.ChatMessage)) return;
    (item.role === 'assistant' ? answeredMs : committedMs).push(performance.now());
  });
  await session.start({ agent: new voice.Agent({ instructions: 'Answer.' }) });
  const silentMs: number[] = [];
  for (let at = 1; at <= TIMED_TURNS; at += 1) {
    silentMs.push(await line.speakLive());
    await expect.poll(() => answeredMs.length, { timeout: 20_000 }).toBe(at);
  }
  expect(texts(session)).toEqual(silentMs.map(() => TEXT));
  expect(texts(session, 'assistant')).toEqual(silentMs.map(() => 'wega'));
  await session.close();
  const delaysMs = answeredMs.map((ms, at) => Math.round(ms - (silentMs[at] ?? 0)));
  const commitsMs = committedMs.map((ms, at) => Math.round(ms - (finalMs[at] ?? 0)));
  console.log({ eagerMs, delaysMs, commitsMs });
  return seen;
}

test('with eagerMs an AgentSession asks its model before the final, and answers each turn once', async () => {
  expect((await converse(undefined))[0]).toBe('final');
  expect((await converse(250))[0]).toBe('asked');
});
