import { setTimeout as sleep } from 'node:timers/promises';

const BYTES_PER_MS = 32;
/** As long as the frames of most microphones. */
export const FRAME_MS = 100;

/** Yields each frame when a microphone would have filled it. */
export async function* inRealTime(
  pcm: Uint8Array,
  frameMs: number = FRAME_MS,
): AsyncGenerator<Uint8Array> {
  const frameBytes = frameMs * BYTES_PER_MS;
  const startedMs = performance.now();
  for (let at = 0; at < pcm.byteLength; at += frameBytes) {
    const frame = pcm.subarray(at, at + frameBytes);
    const spokenMs = (at + frame.byteLength) / BYTES_PER_MS;
    await sleep(Math.max(0, startedMs + spokenMs - performance.now()));
    yield frame;
  }
}
