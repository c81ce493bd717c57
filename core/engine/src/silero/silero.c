// Silero VAD v6 for 16 kHz, one hop of 32 ms at a time. Plain 128-bit SIMD: relaxed SIMD may round differently on
// another processor. silero.ts fills `weights` in the order of the structure. ../../scripts/build-silero builds it.
#include <wasm_simd128.h>

enum { CONTEXT = 64, HOP = 512, INPUT = CONTEXT + HOP, FFT = 256, STEP = 128, BINS = FFT / 2 + 1, UNITS = 128 };
// The transform sees four frames. A frame of zeros before and after them is the padding of the first convolution.
enum { FRAMES = 4, BINS_ROW = 132 };

static struct {
  float cosine[FFT], sine[FFT], window[FFT];
  // Blocks of outputs: for each input, the weights of all outputs of the block.
  float first[16][3][BINS][8], first_bias[UNITS];
  float second[4][3 * UNITS][16], second_bias[64];
  float third[2][2 * 64][32], third_bias[64];
  float fourth[4][64][32], fourth_bias[UNITS];
  float gates[16][2 * UNITS][32], gates_bias[4 * UNITS];
  float out[UNITS], out_bias;
} weights __attribute__((aligned(16)));

static float input[INPUT] __attribute__((aligned(16)));
/** The hidden state, then the cell. */
static float state[2 * UNITS] __attribute__((aligned(16)));

float *weights_at(void) { return weights.cosine; }
float *input_at(void) { return input; }
float *state_at(void) { return state; }

static inline v128_t multiply_add(v128_t a, v128_t b, v128_t sum) { return wasm_f32x4_add(wasm_f32x4_mul(a, b), sum); }

static inline v128_t positive(v128_t value) { return wasm_f32x4_max(value, wasm_f32x4_splat(0)); }

/** Cephes' polynomial for e^x. */
static inline float exponential(float x) {
  x = x < -87 ? -87 : x > 87 ? 87 : x;
  float power = __builtin_floorf(x * 1.44269504f + 0.5f);
  float rest = x - power * 0.693359375f + power * 2.12194440e-4f;
  float sum = 1.9875691500e-4f;
  sum = sum * rest + 1.3981999507e-3f;
  sum = sum * rest + 8.3334519073e-3f;
  sum = sum * rest + 4.1665795894e-2f;
  sum = sum * rest + 1.6666665459e-1f;
  sum = sum * rest + 5.0000001201e-1f;
  union { int bits; float value; } scale = {.bits = ((int)power + 127) << 23};
  return (sum * rest * rest + rest + 1) * scale.value;
}

static inline float sigmoid(float x) { return 1 / (1 + exponential(-x)); }

static inline float tangent(float x) {
  float fall = exponential(-2 * __builtin_fabsf(x));
  return __builtin_copysignf((1 - fall) / (1 + fall), x);
}

/** Magnitudes of a real transform of 256 points, through a complex one of 128. */
static void spectrum(const float *samples, float *magnitudes) {
  enum { HALF = FFT / 2 };
  float re[HALF], im[HALF];
  for (int i = 0; i < HALF; i++) {
    int reversed = 0;
    for (int bit = 0; bit < 7; bit++) reversed |= ((i >> bit) & 1) << (6 - bit);
    re[reversed] = samples[2 * i] * weights.window[2 * i];
    im[reversed] = samples[2 * i + 1] * weights.window[2 * i + 1];
  }
  for (int length = 2; length <= HALF; length <<= 1) {
    for (int start = 0; start < HALF; start += length) {
      for (int k = 0; k < length / 2; k++) {
        float c = weights.cosine[k * (FFT / length)], s = -weights.sine[k * (FFT / length)];
        int a = start + k, b = a + length / 2;
        float turned_re = re[b] * c - im[b] * s, turned_im = re[b] * s + im[b] * c;
        re[b] = re[a] - turned_re;
        im[b] = im[a] - turned_im;
        re[a] += turned_re;
        im[a] += turned_im;
      }
    }
  }
  for (int k = 0; k < BINS; k++) {
    int a = k & (HALF - 1), b = (HALF - k) & (HALF - 1);
    float even_re = 0.5f * (re[a] + re[b]), even_im = 0.5f * (im[a] - im[b]);
    float odd_re = 0.5f * (im[a] + im[b]), odd_im = -0.5f * (re[a] - re[b]);
    float c = weights.cosine[k], s = -weights.sine[k];
    float real = even_re + odd_re * c - odd_im * s, imaginary = even_im + odd_re * s + odd_im * c;
    magnitudes[k] = __builtin_sqrtf(real * real + imaginary * imaginary);
  }
}

/** A matrix times a vector, 32 outputs at a time. */
static inline void multiply(const float *w, const float *bias, const float *in, int inputs, float *out, int outputs) {
  for (int block = 0; block < outputs; block += 32) {
    v128_t sums[8];
    for (int j = 0; j < 8; j++) sums[j] = wasm_v128_load(bias + block + 4 * j);
    for (int i = 0; i < inputs; i++, w += 32) {
      v128_t x = wasm_v128_load32_splat(in + i);
      for (int j = 0; j < 8; j++) sums[j] = multiply_add(x, wasm_v128_load(w + 4 * j), sums[j]);
    }
    for (int j = 0; j < 8; j++) wasm_v128_store(out + block + 4 * j, sums[j]);
  }
}

static inline void rectify(float *values, int count) {
  for (int i = 0; i < count; i += 4) wasm_v128_store(values + i, positive(wasm_v128_load(values + i)));
}

/** Takes `input` and `state`, changes `state`, and returns the probability of speech. */
float hop(void) {
  static float padded[INPUT + CONTEXT], bins[(FRAMES + 2) * BINS_ROW], one[(FRAMES + 2) * UNITS];
  static float two[2 * 64], three[64], joined[2 * UNITS], gates[4 * UNITS];
  for (int i = 0; i < INPUT; i++) padded[i] = input[i];
  for (int i = 0; i < CONTEXT; i++) padded[INPUT + i] = input[INPUT - 2 - i];
  for (int frame = 0; frame < FRAMES; frame++) spectrum(padded + STEP * frame, bins + (frame + 1) * BINS_ROW);

  for (int block = 0; block < 16; block++) {
    v128_t sums[FRAMES][2];
    for (int frame = 0; frame < FRAMES; frame++) {
      for (int j = 0; j < 2; j++) sums[frame][j] = wasm_v128_load(weights.first_bias + 8 * block + 4 * j);
    }
    for (int tap = 0; tap < 3; tap++) {
      for (int bin = 0; bin < BINS; bin++) {
        const float *w = weights.first[block][tap][bin];
        v128_t low = wasm_v128_load(w), high = wasm_v128_load(w + 4);
        for (int frame = 0; frame < FRAMES; frame++) {
          v128_t x = wasm_v128_load32_splat(bins + (tap + frame) * BINS_ROW + bin);
          sums[frame][0] = multiply_add(x, low, sums[frame][0]);
          sums[frame][1] = multiply_add(x, high, sums[frame][1]);
        }
      }
    }
    for (int frame = 0; frame < FRAMES; frame++) {
      for (int j = 0; j < 2; j++) {
        wasm_v128_store(one + (frame + 1) * UNITS + 8 * block + 4 * j, positive(sums[frame][j]));
      }
    }
  }

  // Three frames that follow each other are one vector. The second convolution takes every other of them.
  for (int block = 0; block < 4; block++) {
    v128_t sums[2][4];
    for (int j = 0; j < 4; j++) sums[0][j] = sums[1][j] = wasm_v128_load(weights.second_bias + 16 * block + 4 * j);
    for (int i = 0; i < 3 * UNITS; i++) {
      v128_t x = wasm_v128_load32_splat(one + i), y = wasm_v128_load32_splat(one + 2 * UNITS + i);
      for (int j = 0; j < 4; j++) {
        v128_t w = wasm_v128_load(weights.second[block][i] + 4 * j);
        sums[0][j] = multiply_add(x, w, sums[0][j]);
        sums[1][j] = multiply_add(y, w, sums[1][j]);
      }
    }
    for (int j = 0; j < 4; j++) {
      wasm_v128_store(two + 16 * block + 4 * j, positive(sums[0][j]));
      wasm_v128_store(two + 64 + 16 * block + 4 * j, positive(sums[1][j]));
    }
  }

  multiply(weights.third[0][0], weights.third_bias, two, 2 * 64, three, 64);
  rectify(three, 64);
  multiply(weights.fourth[0][0], weights.fourth_bias, three, 64, joined, UNITS);
  rectify(joined, UNITS);
  for (int i = 0; i < UNITS; i++) joined[UNITS + i] = state[i];
  multiply(weights.gates[0][0], weights.gates_bias, joined, 2 * UNITS, gates, 4 * UNITS);

  float sum = weights.out_bias;
  for (int i = 0; i < UNITS; i++) {
    float in = sigmoid(gates[i]), forget = sigmoid(gates[UNITS + i]);
    float cell = forget * state[UNITS + i] + in * tangent(gates[2 * UNITS + i]);
    float hidden = sigmoid(gates[3 * UNITS + i]) * tangent(cell);
    state[UNITS + i] = cell;
    state[i] = hidden;
    if (hidden > 0) sum += hidden * weights.out[i];
  }
  return sigmoid(sum);
}
