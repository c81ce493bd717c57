import { AUDIO } from '@svc-asr/protocol';
import { SpeechReader } from '../servers/speech.ts';

const NOTHING = new Uint8Array(0);

/** The audio of one session as the service must take it: frames form one byte stream, and an odd byte waits for its other half. */
export class SentAudio {
  #samples = 0;
  #half: Uint8Array = NOTHING;
  /** Whole samples from this position on. */
  #chunks: Uint8Array[] = [];
  #position = 0;

  /** How many whole samples were sent. */
  get samples(): number {
    return this.#samples;
  }

  /** Where the audio begins that is neither final nor dropped. */
  get position(): number {
    return this.#position;
  }

  push(frame: Uint8Array): void {
    const bytes = this.#half.byteLength === 0 ? frame : Buffer.concat([this.#half, frame]);
    const samples = Math.floor(bytes.byteLength / AUDIO.bytesPerSample);
    const whole = samples * AUDIO.bytesPerSample;
    this.#half = bytes.subarray(whole);
    this.#chunks.push(bytes.subarray(0, whole));
    this.#samples += samples;
  }

  /** Removes the audio before a position, and reads it. */
  takeUntil(position: number): SpeechReader {
    const reader = new SpeechReader();
    for (let left = (position - this.#position) * AUDIO.bytesPerSample; left > 0;) {
      const [first, ...rest] = this.#chunks;
      if (first === undefined) break;
      reader.read(first.subarray(0, left));
      this.#chunks = first.byteLength > left ? [first.subarray(left), ...rest] : rest;
      left -= first.byteLength;
    }
    this.#position = position;
    return reader;
  }
}
