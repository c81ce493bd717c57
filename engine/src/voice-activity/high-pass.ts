/** A second-order Butterworth filter at 200 Hz for 16 kHz. Removes rumble and mains hum. */
const B0 = 0.945_976_9;
const A1 = -1.889_033_1;
const A2 = 0.894_874_3;

export class HighPass {
  #x1 = 0;
  #x2 = 0;
  #y1 = 0;
  #y2 = 0;

  next(x: number): number {
    const y = B0 * (x - 2 * this.#x1 + this.#x2) - A1 * this.#y1 - A2 * this.#y2;
    this.#x2 = this.#x1;
    this.#x1 = x;
    this.#y2 = this.#y1;
    this.#y1 = y;
    return y;
  }
}
