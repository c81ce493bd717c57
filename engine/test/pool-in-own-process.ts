import { startSherpaEngine } from '../src/index.ts';
import { MODELS_DIR } from '@svc-asr/testing/speech/fixtures.ts';

/** A parent to be killed: says which children it has, then waits for its end. */
const engine = await startSherpaEngine({ modelsDir: MODELS_DIR, children: 2 });
process.send?.(engine.children().map(({ pid }) => pid));
setInterval(() => {}, 1e6);
