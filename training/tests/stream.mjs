// node stream.mjs ENGINE_ROOM MODEL_DIR [--language PROMPT] WAV...: what the native engine makes of each file, as JSON.
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const [room, model, ...rest] = process.argv.slice(2);
const [language, files] = rest[0] === '--language' ? [rest[1], rest.slice(2)] : ['', rest];
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
for (const name of files) {
  const stream = recogniser.createStream();
  if (language !== '') stream.setOption('language', language);
  const { samples } = sherpa.readWave(resolve(model, name), false);
  // What an engine does not decode without: a whole chunk after the last sample.
  for (const piece of [samples, new Float32Array(20_800)]) {
    stream.acceptWaveform({ samples: piece, sampleRate: 16_000 });
    while (recogniser.isReady(stream)) recogniser.decode(stream);
  }
  const { text, tokens, timestamps, ys_probs } = recogniser.getResult(stream);
  console.log(JSON.stringify({ text, tokens, timestamps, ys_probs }));
}
