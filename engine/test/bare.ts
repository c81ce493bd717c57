import sherpa from 'sherpa-onnx-node';
import { CHUNK_SAMPLES, type ModelId } from '@svc-asr/protocol';
import { loadManifests } from '../src/manifest.ts';
import { MODELS_DIR } from './speech.ts';

const FIRST_DECODE_SAMPLES = 19_640;
const TAIL_SAMPLES = 20_800;

/** The recogniser as its makers show it: all the audio at once, one stream, nothing of ours in between. */
export async function recogniseBare(input: { model: ModelId; pcm: Uint8Array }): Promise<string> {
  const manifest = (await loadManifests(MODELS_DIR)).get(input.model);
  if (manifest === undefined) throw new RangeError('No such model.');
  const { tokens, ...transducer } = manifest.files;
  const recogniser = new sherpa.OnlineRecognizer({
    featConfig: { sampleRate: 16_000, featureDim: 80 },
    modelConfig: { transducer, tokens, numThreads: 1, provider: 'cpu' },
    decodingMethod: 'greedy_search',
  });
  const stream = recogniser.createStream();
  stream.setOption('language', manifest.language);
  const samples = Int16Array.from(new Int16Array(input.pcm.slice().buffer));
  for (const part of [
    new Float32Array(FIRST_DECODE_SAMPLES - CHUNK_SAMPLES),
    Float32Array.from(samples, (sample) => sample / 32_768),
    new Float32Array(TAIL_SAMPLES),
  ]) {
    stream.acceptWaveform({ samples: part, sampleRate: 16_000 });
  }
  while (recogniser.isReady(stream)) recogniser.decodeStreams([stream]);
  return recogniser.getResult(stream).text.trim();
}
