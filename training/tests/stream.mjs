// node stream.mjs ENGINE_ROOM MODEL_DIR [--language PROMPT] WAV...: what the native engine makes of each file, as JSON.
import { resolve } from 'node:path';
import { openRecogniser } from './recogniser.mjs';

const [room, model, ...rest] = process.argv.slice(2);
const [language, files] = rest[0] === '--language' ? [rest[1], rest.slice(2)] : ['', rest];
const { sherpa, recogniser } = openRecogniser(room, model);
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
