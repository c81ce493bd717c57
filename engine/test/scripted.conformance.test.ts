import { createScriptedEngine } from '../src/index.ts';
import { promisesOfAnEngine } from './conformance.ts';

promisesOfAnEngine('scripted', async () => {
  const text = 'tũgũthoma mabuku maitũ mothe';
  const engine = createScriptedEngine({
    // Opening takes a moment, as it does with a child.
    script: { texts: [text], openMs: 1 },
    capacity: 3,
    stalledAfterMs: 20,
  });
  return {
    engine,
    model: 'svc-asr-kikuyu-v1',
    speech: { pcm: new Uint8Array(100_000), text },
    crash: () => engine.crash(),
    hang: () => engine.hang(),
  };
});
