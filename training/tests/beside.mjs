// node beside.mjs ENGINE_ROOM MODEL_DIR LANGUAGE WAV: one recording alone and in batches with other streams, as JSON.
// The others are loud, silent, noisy or short, and decode together with it in the native engine.
import { openRecogniser } from './recogniser.mjs';

const [room, model, language, recording] = process.argv.slice(2);
const { sherpa, recogniser } = openRecogniser(room, model);
const { samples } = sherpa.readWave(recording, false);
const tail = new Float32Array(20_800);
let seed = 1;
const random = () => (seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647 - 0.5;
const loud = samples.toReversed().map((value) => Math.max(-1, Math.min(1, 50 * value)));
const others = [
  loud,
  new Float32Array(samples.length),
  samples.map(() => random()),
  loud.subarray(0, 24_000),
  samples.map((value, at) => value + 0.3 * Math.sin(at / 7)),
  loud.toReversed(),
  new Float32Array(18_000).fill(1),
];

function streamOf(audio) {
  const stream = recogniser.createStream();
  if (language !== '') stream.setOption('language', language);
  for (const piece of [audio, tail]) {
    stream.acceptWaveform({ samples: piece, sampleRate: 16_000 });
  }
  return stream;
}

for (const count of [0, 1, 3, 7]) {
  const mine = streamOf(samples);
  const streams = [...others.slice(0, count).map(streamOf), mine];
  for (;;) {
    const ready = streams.filter((stream) => recogniser.isReady(stream));
    if (ready.length === 0) break;
    recogniser.decodeStreams(ready);
  }
  const { tokens, timestamps, ys_probs } = recogniser.getResult(mine);
  console.log(JSON.stringify({ beside: count, tokens, timestamps, ys_probs }));
}
