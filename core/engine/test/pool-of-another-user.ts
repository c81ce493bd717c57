import { once } from 'node:events';
import { startSherpaEngine } from '../src/index.ts';
import { MODELS_DIR } from '@svc-asr/testing/speech/fixtures.ts';

/** Starts a recogniser as nobody, reports its process id, and stops on request. */
const user = { uid: 65_534, gid: 65_534 };
const engine = await startSherpaEngine({ modelsDir: MODELS_DIR, children: 1, user });
process.send?.(engine.children()[0]?.pid);
await once(process, 'message');
await engine.close();
process.disconnect();
