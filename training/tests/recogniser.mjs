import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

/** Opens the native engine's recogniser for a folder with a transducer, and the library that reads recordings. */
export function openRecogniser(room, model) {
  const sherpa = createRequire(join(resolve(room), 'package.json'))('sherpa-onnx-node');
  const file = (name) => join(model, name);
  const recogniser = new sherpa.OnlineRecognizer({
    featConfig: { sampleRate: 16_000, featureDim: 80 },
    decodingMethod: 'greedy_search',
    modelConfig: {
      transducer: {
        encoder: file('encoder.onnx'),
        decoder: file('decoder.onnx'),
        joiner: file('joiner.onnx'),
      },
      tokens: file('tokens.txt'),
      numThreads: 1,
      provider: 'cpu',
    },
  });
  return { sherpa, recogniser };
}
