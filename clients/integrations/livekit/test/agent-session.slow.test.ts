import { ReadableStream, type ReadableStreamDefaultController } from 'node:stream/web';
import { initializeLogger, llm, voice } from '@livekit/agents';
import type { AudioFrame } from '@livekit/rtc-node';
import { startEmulator, type Emulator } from '@svc-asr/emulator';
import { SvcClient } from '@svc-asr/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SvcSTT } from '../src/index.ts';
import { turn } from './audio.ts';

const TEXT = 'ũhoro waku mũrata wakwa';
const TURNS = 20;

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
}

function startSession(speech: SvcSTT, line: Line): voice.AgentSession {
  const session = new voice.AgentSession({
    stt: speech,
    llm: new voice.testing.FakeLLM([{ input: TEXT, content: 'wega' }]),
    turnHandling: { turnDetection: 'stt', endpointing: { minDelay: 0, maxDelay: 100 } },
  });
  session.input.audio = line;
  return session;
}

function userTexts(session: voice.AgentSession): string[] {
  return session.history.items
    .filter((item) => item instanceof llm.ChatMessage && item.role === 'user')
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
    await expect.poll(() => userTexts(session).length, { timeout: 20_000 }).toBe(at + 1);
  }
  emulator.faults.clear();
  expect(new Set(struck)).toEqual(new Set(faults));
  const texts = userTexts(session);
  await session.close();
  // The scripted recogniser returns the whole sentence for each session that receives part of a turn.
  for (const text of texts) {
    expect(text).toContain(TEXT);
    expect(text.replaceAll(TEXT, '').trim()).toBe('');
  }
  expect(texts).toHaveLength(TURNS);
  const used = (await client.usage.get()).recent_sessions;
  expect(used.length - before).toBeGreaterThan(8);
});
