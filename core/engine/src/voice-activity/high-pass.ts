/** A second-order Butterworth filter at 200 Hz for 16 kHz. Removes rumble and mains hum. */
const B0 = 0.945_976_9;
const A1 = -1.889_033_1;
const A2 = 0.894_874_3;
const FULL_SCALE = 32_768;

export class HighPass {
  #x1 = 0;
  #x2 = 0;
  #y1 = 0;
  #y2 = 0;

  /** Filters samples of 16 bits into `target` from `offset` on, scaled to 1. */
  filter(samples: Int16Array, target: Float32Array, offset: number): void {
    // Locals, because a field would be written to memory for every sample.
    let x1 = this.#x1;
    let x2 = this.#x2;
    let y1 = this.#y1;
    let y2 = this.#y2;
    for (let at = 0; at < samples.length; at += 1) {
      const x = (samples[at] ?? 0) / FULL_SCALE;
      // In this order, because the next step waits for y1 only.
      const y = B0 * (x - 2 * x1 + x2) - A2 * y2 - A1 * y1;
      target[offset + at] = y;
      x2 = x1;
      x1 = x;
      y2 = y1;
      y1 = y;
    }
    this.#x1 = x1;
    this.#x2 = x2;
    this.#y1 = y1;
    this.#y2 = y2;
  }
}
