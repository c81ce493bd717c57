import type { ModelId } from '@svc-asr/protocol';
import { startSherpaEngine, type SherpaEngine } from '../src/index.ts';
import { CAPACITY, type Subject } from './conformance.ts';

/** Starts a pool with one child, which signals crash and hang. */
export async function startPooledSubject(input: {
  modelsDir: string;
  model: ModelId;
  speech: Subject['speech'];
}): Promise<Subject & { engine: SherpaEngine }> {
  const { modelsDir, model, speech } = input;
  const engine = await startSherpaEngine({ modelsDir, children: 1, slotsPerChild: CAPACITY });
  function signalChild(signal: NodeJS.Signals): void {
    for (const { pid } of engine.children()) process.kill(pid, signal);
  }
  return {
    engine,
    model,
    speech,
    crash: () => signalChild('SIGKILL'),
    hang: () => signalChild('SIGSTOP'),
  };
}
