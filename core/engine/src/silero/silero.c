// Silero VAD v6 for 16 kHz, some hops of 32 ms at a time. Plain 128-bit SIMD: relaxed SIMD may round differently on
// another processor. silero.ts fills `weights` in the order of the structure. ../../scripts/build-silero builds it.
#include <wasm_simd128.h>

enum { CONTEXT = 64, HOP = 512, INPUT = CONTEXT + HOP, FFT = 256, STEP = 128, BINS = FFT / 2 + 1, UNITS = 128 };
// The transform sees four frames of a hop. HOPS is the most that silero.ts sends.
enum { FRAMES = 4, HOPS = 7 };

typedef float floats __attribute__((ext_vector_type(4)));

static struct {
  float cosine[FFT], sine[FFT], window[FFT];
  // Blocks of outputs: for each input, the weights of all outputs of the block.
  float first[16][3][BINS][8], first_bias[UNITS];
  float second[2][3 * UNITS][32], second_bias[64];
  float third[2][2 * 64][32], third_bias[64];
  float fourth[4][64][32], fourth_bias[UNITS];
  float from_input[16][UNITS][32], from_state[16][UNITS][32], gates_bias[4 * UNITS];
  float out[UNITS], out_bias;
} weights __attribute__((aligned(16)));

/** Hops that follow each other, after the end of the hop before. */
static float audio[CONTEXT + HOPS * HOP] __attribute__((aligned(16)));
/** The hidden state, then the cell. */
static float state[2 * UNITS] __attribute__((aligned(16)));
static float probabilities[HOPS];

float *weights_at(void) { return weights.cosine; }
float *audio_at(void) { return audio; }
float *state_at(void) { return state; }
float *probabilities_at(void) { return probabilities; }

static inline floats load(const float *from) { return *(const floats *)from; }
static inline void store(float *to, floats values) { *(floats *)to = values; }
static inline floats positive(floats values) { return wasm_f32x4_max(values, wasm_f32x4_splat(0)); }

/** Cephes' polynomial for e^x. */
static inline floats exponential(floats x) {
  x = wasm_f32x4_pmin(wasm_f32x4_pmax(x, wasm_f32x4_splat(-87)), wasm_f32x4_splat(87));
  floats power = wasm_f32x4_floor(x * 1.44269504f + 0.5f);
  floats rest = x - power * 0.693359375f + power * 2.12194440e-4f;
  floats sum = 1.9875691500e-4f;
  sum = sum * rest + 1.3981999507e-3f;
  sum = sum * rest + 8.3334519073e-3f;
  sum = sum * rest + 4.1665795894e-2f;
  sum = sum * rest + 1.6666665459e-1f;
  sum = sum * rest + 5.0000001201e-1f;
  floats scale = wasm_i32x4_shl(wasm_i32x4_trunc_sat_f32x4(power + 127), 23);
  return (sum * rest * rest + rest + 1) * scale;
}

static inline floats sigmoid(floats x) { return 1 / (1 + exponential(-x)); }

static inline floats tangent(floats x) {
  floats size = wasm_f32x4_abs(x), fall = exponential(-2 * size);
  return wasm_v128_bitselect(x, (1 - fall) / (1 + fall), wasm_i32x4_splat(1u << 31));
}

/** Magnitudes of real transforms of 256 points, through complex ones of 128, of four frames at once. */
static void spectrum(const float *samples, floats *magnitudes) {
  enum { HALF = FFT / 2 };
  floats re[HALF], im[HALF];
  for (int i = 0; i < HALF; i++) {
    const float *at = samples + 2 * i;
    int reversed = __builtin_bitreverse8(i) >> 1;
    re[reversed] = (floats){at[0], at[STEP], at[2 * STEP], at[3 * STEP]} * weights.window[2 * i];
    im[reversed] = (floats){at[1], at[STEP + 1], at[2 * STEP + 1], at[3 * STEP + 1]} * weights.window[2 * i + 1];
  }
  for (int length = 2; length <= HALF; length <<= 1) {
    for (int start = 0; start < HALF; start += length) {
      for (int k = 0; k < length / 2; k++) {
        float c = weights.cosine[k * (FFT / length)], s = -weights.sine[k * (FFT / length)];
        int a = start + k, b = a + length / 2;
        floats turned_re = re[b] * c - im[b] * s, turned_im = re[b] * s + im[b] * c;
        re[b] = re[a] - turned_re;
        im[b] = im[a] - turned_im;
        re[a] += turned_re;
        im[a] += turned_im;
      }
    }
  }
  for (int k = 0; k < BINS; k++) {
    int a = k & (HALF - 1), b = (HALF - k) & (HALF - 1);
    floats even_re = 0.5f * (re[a] + re[b]), even_im = 0.5f * (im[a] - im[b]);
    floats odd_re = 0.5f * (im[a] + im[b]), odd_im = -0.5f * (re[a] - re[b]);
    float c = weights.cosine[k], s = -weights.sine[k];
    floats real = even_re + odd_re * c - odd_im * s, imaginary = even_im + odd_re * s + odd_im * c;
    magnitudes[k] = wasm_f32x4_sqrt(real * real + imaginary * imaginary);
  }
}

/** One tap of the first convolution, for 8 outputs. Leaves out the padding, which is zero. */
static inline void convolve(int tap, const float (*w)[8], const floats *bins, floats sums[FRAMES][2]) {
  for (int bin = 0; bin < BINS; bin++) {
    for (int frame = 0; frame < FRAMES; frame++) {
      int from = frame + tap - 1;
      if (from < 0 || from >= FRAMES) continue;
      float x = ((const float *)(bins + bin))[from];
      sums[frame][0] += x * load(w[bin]);
      sums[frame][1] += x * load(w[bin] + 4);
    }
  }
}

/**
 * Multiplies a matrix with vectors, 32 outputs at a time, so that weights come from memory once for all vectors. Leaves out
 * inputs of zero, of which there are many after a rectifier. Sums begin with the bias, or go on without one.
 */
static void multiply(const float *w, const float *bias, const float *in, int inputs, int vectors, float *out, int outputs) {
  static short places[2 * HOPS][3 * UNITS];
  int counts[2 * HOPS];
  for (int v = 0; v < vectors; v++) {
    counts[v] = 0;
    for (int i = 0; i < inputs; i++) {
      places[v][counts[v]] = i;
      counts[v] += in[v * inputs + i] != 0;
    }
  }
  for (int block = 0; block < outputs; block += 32, w += 32 * inputs) {
    for (int v = 0; v < vectors; v++) {
      float *to = out + v * outputs + block;
      floats sums[8];
      for (int j = 0; j < 8; j++) sums[j] = load((bias ? bias + block : to) + 4 * j);
      for (int at = 0; at < counts[v]; at++) {
        int i = places[v][at];
        for (int j = 0; j < 8; j++) sums[j] += in[v * inputs + i] * load(w + 32 * i + 4 * j);
      }
      for (int j = 0; j < 8; j++) store(to + 4 * j, sums[j]);
    }
  }
}

static inline void rectify(float *values, int count) {
  for (int i = 0; i < count; i += 4) store(values + i, positive(load(values + i)));
}

/** The part of the network that needs the state. Returns the probability of speech. */
static float remember(float *gates) {
  multiply(weights.from_state[0][0], 0, state, UNITS, 1, gates, 4 * UNITS);
  float sum = weights.out_bias;
  for (int i = 0; i < UNITS; i += 4) {
    floats in = sigmoid(load(gates + i)), forget = sigmoid(load(gates + UNITS + i));
    floats cell = forget * load(state + UNITS + i) + in * tangent(load(gates + 2 * UNITS + i));
    floats hidden = sigmoid(load(gates + 3 * UNITS + i)) * tangent(cell);
    store(state + UNITS + i, cell);
    store(state + i, hidden);
    floats products = positive(hidden) * load(weights.out + i);
    for (int j = 0; j < 4; j++) sum += products[j];
  }
  return sigmoid(sum)[0];
}

/**
 * Takes `audio` and `state`, changes `state`, and sets the probabilities of speech in some hops. Each sum has the same order
 * for any number of hops, so its bits are the same.
 */
void examine(int hops) {
  static floats bins[HOPS][BINS];
  // The second convolution takes every other frame, and those beside it: two vectors. Before the first one is a padding of zeros.
  static float one[HOPS][2][3][UNITS], two[HOPS][2][64], three[HOPS][64], four[HOPS][UNITS], gates[HOPS][4 * UNITS];
  for (int hop = 0; hop < hops; hop++) {
    const float *input = audio + hop * HOP;
    float padded[INPUT + CONTEXT];
    for (int i = 0; i < INPUT; i++) padded[i] = input[i];
    for (int i = 0; i < CONTEXT; i++) padded[INPUT + i] = input[INPUT - 2 - i];
    spectrum(padded, bins[hop]);
  }
  for (int block = 0; block < UNITS; block += 8) {
    for (int hop = 0; hop < hops; hop++) {
      floats sums[FRAMES][2];
      for (int i = 0; i < 2 * FRAMES; i++) sums[i / 2][i % 2] = load(weights.first_bias + block + 4 * (i % 2));
      for (int tap = 0; tap < 3; tap++) convolve(tap, weights.first[block / 8][tap], bins[hop], sums);
      for (int j = 0; j < 2; j++) {
        int at = block + 4 * j;
        for (int frame = 0; frame < 2; frame++) store(one[hop][0][frame + 1] + at, positive(sums[frame][j]));
        for (int frame = 1; frame < 4; frame++) store(one[hop][1][frame - 1] + at, positive(sums[frame][j]));
      }
    }
  }
  multiply(weights.second[0][0], weights.second_bias, one[0][0][0], 3 * UNITS, 2 * hops, two[0][0], 64);
  rectify(two[0][0], hops * 2 * 64);
  multiply(weights.third[0][0], weights.third_bias, two[0][0], 2 * 64, hops, three[0], 64);
  rectify(three[0], hops * 64);
  multiply(weights.fourth[0][0], weights.fourth_bias, three[0], 64, hops, four[0], UNITS);
  rectify(four[0], hops * UNITS);
  multiply(weights.from_input[0][0], weights.gates_bias, four[0], UNITS, hops, gates[0], 4 * UNITS);
  for (int hop = 0; hop < hops; hop++) probabilities[hop] = remember(gates[hop]);
}
