/**
 * Returns the power in each bin below half the sample rate. The length of `samples` is a power of two. Two real values make one
 * complex value, so the transform has half the length; plain locals in its loops, because pairs of values took most of the time.
 */
export function powerSpectrum(samples: Float64Array): Float64Array {
  const half = samples.length / 2;
  const real = new Float64Array(half);
  const imaginary = new Float64Array(half);
  for (let at = 0; at < half; at += 1) {
    real[at] = samples[2 * at] ?? 0;
    imaginary[at] = samples[2 * at + 1] ?? 0;
  }
  const waves = wavesOf(samples.length);
  transform(real, imaginary, waves);
  const power = new Float64Array(half);
  for (let bin = 0; bin < half; bin += 1) {
    const mirror = bin === 0 ? 0 : half - bin;
    const a = real[bin] ?? 0;
    const b = imaginary[bin] ?? 0;
    const c = real[mirror] ?? 0;
    const d = imaginary[mirror] ?? 0;
    // The spectra of the even and the odd samples.
    const evenReal = (a + c) / 2;
    const evenImaginary = (b - d) / 2;
    const oddReal = (b + d) / 2;
    const oddImaginary = (c - a) / 2;
    const cosine = waves.cosines[bin] ?? 0;
    const sine = waves.sines[bin] ?? 0;
    const x = evenReal + oddReal * cosine + oddImaginary * sine;
    const y = evenImaginary + oddImaginary * cosine - oddReal * sine;
    power[bin] = x * x + y * y;
  }
  return power;
}

/** The fast Fourier transform in place, radix two. `waves` are those of twice its length. */
function transform(real: Float64Array, imaginary: Float64Array, waves: Waves): void {
  reorder(real);
  reorder(imaginary);
  const { length } = real;
  const { cosines, sines } = waves;
  for (let size = 2; size <= length; size *= 2) {
    const half = size / 2;
    const stride = (2 * length) / size;
    for (let start = 0; start < length; start += size) {
      for (let at = 0; at < half; at += 1) {
        const cosine = cosines[at * stride] ?? 0;
        const sine = sines[at * stride] ?? 0;
        const even = start + at;
        const odd = even + half;
        const x = real[odd] ?? 0;
        const y = imaginary[odd] ?? 0;
        const a = x * cosine + y * sine;
        const b = y * cosine - x * sine;
        const c = real[even] ?? 0;
        const d = imaginary[even] ?? 0;
        real[odd] = c - a;
        imaginary[odd] = d - b;
        real[even] = c + a;
        imaginary[even] = d + b;
      }
    }
  }
}

/** Puts every value where its index with reversed bits points. */
function reorder(values: Float64Array): void {
  for (let at = 1, other = 0; at < values.length; at += 1) {
    let bit = values.length >> 1;
    for (; (other & bit) > 0; bit >>= 1) other ^= bit;
    other ^= bit;
    if (at >= other) continue;
    const value = values[at] ?? 0;
    values[at] = values[other] ?? 0;
    values[other] = value;
  }
}

interface Waves {
  readonly cosines: Float64Array;
  readonly sines: Float64Array;
}

const WAVES = new Map<number, Waves>();

function wavesOf(length: number): Waves {
  const known = WAVES.get(length);
  if (known !== undefined) return known;
  const angles = Array.from({ length: length / 2 }, (_, at) => (2 * Math.PI * at) / length);
  const made = {
    cosines: Float64Array.from(angles, Math.cos),
    sines: Float64Array.from(angles, Math.sin),
  };
  WAVES.set(length, made);
  return made;
}
