import { TAKEN } from '@svc-asr/engine';
import { LIMITS } from '@svc-asr/protocol';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { EngineFeed } from './engine-feed.ts';

/** An engine that completes writes on demand. */
class SlowEngine {
  readonly calls: string[] = [];
  isPaused = false;
  overflows = 0;
  isSlow = true;
  #takes: (() => void)[] = [];

  readonly feed = new EngineFeed({
    stream: {
      write: (pcm) => {
        this.calls.push(...Array.from(pcm, String));
        if (!this.isSlow) return TAKEN;
        return new Promise((resolve) => this.#takes.push(resolve));
      },
      flush: () => void this.calls.push('flush'),
      reset: () => void this.calls.push('reset'),
      expect: (keyterms) => void this.calls.push(...keyterms),
    },
    onPause: () => (this.isPaused = true),
    onResume: () => (this.isPaused = false),
    onOverflow: () => (this.overflows += 1),
  });

  async take(): Promise<void> {
    for (const take of this.#takes.splice(0)) take();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

const PIECE = Uint8Array.of(1, 2);

test('buffers thousands of small frames in a few blocks and loses none', async () => {
  const engine = new SlowEngine();
  for (let at = 0; at < 21_000; at += 1) engine.feed.write(PIECE);
  expect(engine).toMatchObject({ isPaused: true, overflows: 0 });
  for (let turn = 0; turn < 5; turn += 1) await engine.take();
  expect(engine).toMatchObject({ isPaused: false, overflows: 0 });
  expect(engine.calls).toHaveLength(42_000);
});

test('reports one overflow when buffered audio exceeds the limit, and loses none of it', async () => {
  const engine = new SlowEngine();
  const frame = new Uint8Array(LIMITS.frameBytes);
  for (let at = 0; at < 7; at += 1) engine.feed.write(frame);
  engine.feed.flush();
  expect(engine.overflows).toBe(1);
  await engine.take();
  expect(engine.calls).toHaveLength(LIMITS.frameBytes * 7 + 1);
  expect(engine.calls.at(-1)).toBe('flush');
});

test('audio and commands reach the engine in the order in which they were sent', async () => {
  const call = fc.constantFrom('write', 'flush', 'take', 'fast');
  await fc.assert(
    fc.asyncProperty(fc.array(call, { maxLength: 60 }), async (calls) => {
      const engine = new SlowEngine();
      const expected: string[] = [];
      for (const name of calls) {
        if (name === 'take') await engine.take();
        else if (name === 'fast') engine.isSlow = !engine.isSlow;
        else if (name === 'flush') {
          engine.feed.flush();
          expected.push('flush');
        } else {
          engine.feed.write(PIECE);
          expected.push('1', '2');
        }
      }
      engine.isSlow = false;
      await engine.take();
      expect(engine.calls).toEqual(expected);
      expect(engine.isPaused).toBe(false);
    }),
  );
});

test('a reset drops waiting audio that was not flushed, and keeps flushed audio and keyterms', async () => {
  const engine = new SlowEngine();
  for (let at = 0; at < 64; at += 1) engine.feed.write(new Uint8Array(0));
  engine.feed.write(Uint8Array.of(1, 1));
  engine.feed.write(Uint8Array.of(2, 2));
  engine.feed.flush();
  engine.feed.write(Uint8Array.of(3, 3));
  engine.feed.expect(['keyterm']);
  engine.feed.reset();
  engine.isSlow = false;
  await engine.take();
  expect(engine.calls).toEqual(['1', '1', '2', '2', 'flush', 'keyterm', 'reset']);
});
