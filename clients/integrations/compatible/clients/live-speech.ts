import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const WAV_HEAD_BYTES = 44;
const FRAME_MS = 100;
const RATE_HZ = 16_000;
/** By then the speaker is in the middle of a sentence. */
const SPEAKING_AFTER_FRAMES = 15;

/** A WAV file in frames of 100 ms. */
export function framesOf(wav: string, rateHz = RATE_HZ): Uint8Array<ArrayBuffer>[] {
  const pcm = Uint8Array.from(readFileSync(wav).subarray(WAV_HEAD_BYTES));
  const bytes = frameBytes(rateHz);
  const count = Math.ceil(pcm.byteLength / bytes);
  return Array.from({ length: count }, (_, at) => pcm.slice(at * bytes, (at + 1) * bytes));
}

function frameBytes(rateHz: number): number {
  return (2 * rateHz * FRAME_MS) / 1000;
}

export function framesOfSilence(ms: number): Uint8Array<ArrayBuffer>[] {
  return Array.from({ length: ms / FRAME_MS }, () => new Uint8Array(frameBytes(RATE_HZ)));
}

/** Sends each frame when it is due, as a microphone would. */
export async function speakLive(
  frames: readonly Uint8Array<ArrayBuffer>[],
  send: (frame: Uint8Array<ArrayBuffer>) => void,
  speaking: () => void,
): Promise<void> {
  const startMs = performance.now();
  for (const [at, frame] of frames.entries()) {
    if (at === SPEAKING_AFTER_FRAMES) speaking();
    send(frame);
    await sleep(Math.max(0, startMs + (at + 1) * FRAME_MS - performance.now()));
  }
}
