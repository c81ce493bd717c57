export function appendSamples(
  audio: Float32Array,
  samples: Float32Array,
): Float32Array<ArrayBuffer> {
  const joined = new Float32Array(audio.length + samples.length);
  joined.set(audio);
  joined.set(samples, audio.length);
  return joined;
}
