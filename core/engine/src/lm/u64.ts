/**
 * Unsigned 64-bit integers as two halves. KenLM's keys need multiplications modulo 2^64, and BigInt is thirty times slower. An
 * instance is changed in place, so that scoring allocates nothing.
 */
export class U64 {
  high = 0;
  low = 0;

  set(high: number, low: number): this {
    this.high = high >>> 0;
    this.low = low >>> 0;
    return this;
  }

  xor(high: number, low: number): this {
    this.high = (this.high ^ high) >>> 0;
    this.low = (this.low ^ low) >>> 0;
    return this;
  }

  /** Multiplies modulo 2^64. */
  multiply(high: number, low: number): this {
    const [a0, a1] = [this.low & 0xffff, this.low >>> 16];
    const [b0, b1] = [low & 0xffff, low >>> 16];
    const middle = a1 * b0 + ((a0 * b0) >>> 16);
    const crossed = a0 * b1 + (middle & 0xffff);
    const carried = a1 * b1 + Math.floor(middle / 0x1_0000) + Math.floor(crossed / 0x1_0000);
    this.high = (carried + Math.imul(this.high, low) + Math.imul(this.low, high)) >>> 0;
    this.low = Math.imul(this.low, low) >>> 0;
    return this;
  }

  /** The remainder for a divisor below 2^37. */
  modulo(divisor: number): number {
    const upper = (this.high % divisor) * 0x1_0000 + (this.low >>> 16);
    return ((upper % divisor) * 0x1_0000 + (this.low & 0xffff)) % divisor;
  }
}
