/**
 * The audio worklet, as text: browsers load it as a separate module on the audio thread, so bundlers need no special
 * support for it. It collects blocks of 128 samples into chunks of 100 ms.
 */
export const MICROPHONE_WORKLET = `
registerProcessor('svc-microphone', class extends AudioWorkletProcessor {
  constructor() {
    super();
    this.block = new Float32Array(Math.round(sampleRate / 10));
    this.filled = 0;
  }
  process([input]) {
    if (input.length === 0) return true;
    const frames = input[0].length;
    for (let at = 0; at < frames; at += 1) {
      let sum = 0;
      for (const channel of input) sum += channel[at];
      this.block[this.filled++] = sum / input.length;
      if (this.filled < this.block.length) continue;
      this.port.postMessage(this.block.slice());
      this.filled = 0;
    }
    return true;
  }
});
`;
