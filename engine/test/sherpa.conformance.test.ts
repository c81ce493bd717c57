import { startSherpaEngine } from '../src/index.ts';
import { BareRecogniser } from './bare.ts';
import { promisesOfAnEngine } from './conformance.ts';
import { MODELS_DIR, speech } from './speech.ts';

const { model, pcm } = speech('kikuyu-2');
const text = (await BareRecogniser.load()).recognise({ model, pcm });

promisesOfAnEngine('sherpa', async () => {
  const engine = await startSherpaEngine({ modelsDir: MODELS_DIR, children: 1, slotsPerChild: 3 });
  function signalChild(signal: NodeJS.Signals): void {
    for (const { pid } of engine.children()) process.kill(pid, signal);
  }
  return {
    engine,
    model,
    speech: { pcm, text },
    crash: () => signalChild('SIGKILL'),
    hang: () => signalChild('SIGSTOP'),
  };
});
