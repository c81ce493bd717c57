import { setTimeout as delay } from 'node:timers/promises';
import type { Engine, EngineEvent, EngineStream, EngineWord } from '@svc-asr/engine';
import { inRealTime } from './in-real-time.ts';
import { distinctUtterance, pcmOf } from './utterances.ts';

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
      const hearing = readUtterance(events);
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

/** Returns when the first sample was spoken. */
async function speak(stream: EngineStream, pcm: Uint8Array): Promise<number> {
  const startedMs = performance.now();
  for await (const frame of inRealTime(pcm)) await stream.write(frame.slice());
  stream.flush();
  return startedMs;
}

interface Utterance {
  readonly words: readonly EngineWord[];
  /** When each word of the text became stable. */
  readonly stableAtMs: readonly number[];
}

/** Notes when words become stable, until the final. */
async function readUtterance(events: AsyncIterator<EngineEvent>): Promise<Utterance> {
  const stableAtMs: number[] = [];
  for (;;) {
    const { value: event, done } = await events.next();
    if (done === true || event.type === 'error') throw new Error('The stream ended early.');
    if (event.type === 'final') return { words: event.words, stableAtMs };
    const stable = event.text.slice(0, event.stableLength).split(' ').filter(Boolean).length;
    while (stableAtMs.length < stable) stableAtMs.push(performance.now());
  }
}
