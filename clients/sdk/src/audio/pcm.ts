/** Converts floats (full scale 1) to 16-bit PCM (full scale 32,768). Louder samples are clipped. */
export function toPcm16(samples: Float32Array): Int16Array {
  return Int16Array.from(samples, (sample) =>
    Math.max(-32_768, Math.min(32_767, Math.round(sample * 32_768))),
  );
}

export function toFloat(samples: Int16Array): Float32Array {
  return Float32Array.from(samples, (sample) => sample / 32_768);
}

/** Mixes interleaved channels to mono by their mean, which cannot clip. */
export function mixToMono(interleaved: Float32Array, channels: number): Float32Array {
  if (channels === 1) return interleaved;
  const mono = new Float32Array(Math.floor(interleaved.length / channels));
  for (let frame = 0; frame < mono.length; frame += 1) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel += 1) {
      sum += interleaved[frame * channels + channel] ?? 0;
    }
    mono[frame] = sum / channels;
  }
  return mono;
}
