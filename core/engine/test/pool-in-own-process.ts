import { startSherpaEngine } from '../src/index.ts';
import { MODELS_DIR } from '@svc-asr/testing/speech/fixtures.ts';

/** A parent process to be killed by the test. Prints the ids of its children, then waits. */
const engine = await startSherpaEngine({ modelsDir: MODELS_DIR, children: 2 });
process.send?.(engine.children().map(({ pid }) => pid));
setInterval(() => {}, 1e6);
