import { createScriptedEngine, type Engine } from '@svc-asr/engine';

const WORDS = Array.from({ length: 40 }, () => 'mũndũ').join(' ');

/** Costs nothing and has room for every stream, so that only what is around it is measured. */
export function scriptedRecogniser(): Engine {
  return createScriptedEngine({ script: { texts: [WORDS] }, capacity: 10_000 });
}
