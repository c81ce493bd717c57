/**
 * Runs on the audio thread, so it is text: a module of its own for the browser, which no bundler has to understand.
 * Gathers the 128-sample blocks into tenths of a second.
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
