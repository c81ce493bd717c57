import { setTimeout as delay } from 'node:timers/promises';
import type { Engine, EngineEvent, EngineStream, EngineWord } from '@svc-asr/engine';
import { distinctUtterance, pcmOf } from './utterances.ts';

const FRAME_MS = 100;
const FRAME_BYTES = FRAME_MS * 32;
const SENTENCES = 4;
/** Streams start one after another within a chunk, as callers do. */
const CHUNK_MS = 1_120;
const never = new AbortController().signal;

/**
 * Streams live audio through the engine and returns, for each word that a delta called stable, the time from the end of
 * the word to that delta. Words that only the final made stable don't count: a flush shortens their wait.
 */
export async function measureCommitLags(
  engine: Engine,
  input: { readonly streams: number; readonly utterances: number },
): Promise<number[]> {
  const streams = Array.from({ length: input.streams }, async (_, number) => {
    await delay((number * CHUNK_MS) / input.streams);
    const plan = distinctUtterance(number % 256, SENTENCES);
    const stream = await engine.open({ model: plan.model, signal: never });
    const events = stream.events[Symbol.asyncIterator]();
    const lagsMs: number[] = [];
    for (let turn = 0; turn < input.utterances; turn += 1) {
      const hearing = hear(events);
      const startedMs = await speak(stream, pcmOf(plan));
      const { words, stableAtMs } = await hearing;
      for (const [at, committedMs] of stableAtMs.entries()) {
        lagsMs.push(committedMs - startedMs - (words[at]?.endMs ?? Number.NaN));
      }
    }
    await stream.close();
    return lagsMs;
  });
  return (await Promise.all(streams)).flat();
}

/** Sends each frame when a microphone would have filled it. Returns when the first sample was spoken. */
async function speak(stream: EngineStream, pcm: Uint8Array): Promise<number> {
  const startedMs = performance.now();
  for (let at = 0; at < pcm.length; at += FRAME_BYTES) {
    const frame = pcm.slice(at, at + FRAME_BYTES);
    const spokenMs = (at + frame.length) / 32;
    await delay(Math.max(0, startedMs + spokenMs - performance.now()));
    await stream.write(frame);
  }
  stream.flush();
  return startedMs;
}

interface Utterance {
  readonly words: readonly EngineWord[];
  /** When each word of the text became stable. */
  readonly stableAtMs: readonly number[];
}

/** Notes when words become stable, until the final. */
async function hear(events: AsyncIterator<EngineEvent>): Promise<Utterance> {
  const stableAtMs: number[] = [];
  for (;;) {
    const { value: event, done } = await events.next();
    if (done === true || event.type === 'error') throw new Error('The stream ended early.');
    if (event.type === 'final') return { words: event.words, stableAtMs };
    const stable = event.text.slice(0, event.stableLength).split(' ').filter(Boolean).length;
    while (stableAtMs.length < stable) stableAtMs.push(performance.now());
  }
}
