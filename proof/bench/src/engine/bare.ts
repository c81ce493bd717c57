import type { ModelManifest, OfflineCtcFiles } from '@svc-asr/engine';
import { MODELS_DIR } from '@svc-asr/testing/speech/fixtures.ts';
import { MeasuredProcess } from '../measured-process.ts';
import type { BareAnswer, BareOrder } from './bare-main.ts';
import type { Side } from './throughput.ts';

/** Runs a bare recogniser in its own process and returns its result. */
export type Bare = MeasuredProcess<BareOrder, BareAnswer>;

/** sherpa-onnx with the transducer of a models directory. */
export function startBare(modelsDir = MODELS_DIR): Promise<Bare> {
  return MeasuredProcess.start(new URL('./bare-main.ts', import.meta.url), [modelsDir]);
}

/** ONNX Runtime with the encoder of an offline CTC model. It returns no texts. */
export function startBareCtc({ model, tokens }: OfflineCtcFiles): Promise<Bare> {
  return MeasuredProcess.start(new URL('./bare-ctc-main.ts', import.meta.url), [model, tokens]);
}

/** What runs the weights of a models directory. */
export function startBareWeights(manifest: ModelManifest, modelsDir: string): Promise<Bare> {
  return manifest.kind === 'offline_ctc' ? startBareCtc(manifest.files) : startBare(modelsDir);
}

export function bareSide(bare: Bare): Side {
  return async (plans) => (await bare.run(plans)).cpuMs;
}
