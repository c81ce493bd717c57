import { createScriptedEngine, withReplay } from '../src/index.ts';
import { testEngine, type Subject } from './conformance.ts';

async function start(): Promise<Subject> {
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
}

testEngine('scripted', start);
testEngine(
  'scripted with replay',
  async () => {
    const subject = await start();
    return { ...subject, engine: withReplay(subject.engine) };
  },
  { onLoss: 'replay' },
);
