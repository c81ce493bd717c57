import type { Engine, EngineEvent } from '@svc-asr/engine';
import { AUDIO, type ModelId } from '@svc-asr/protocol';

const FRAME_BYTES = (AUDIO.sampleRateHz / 10) * AUDIO.bytesPerSample;

/** Streams s16le bytes through the engine like a client: frames of 100 ms, a flush, the final. */
export async function streamRecording(
  engine: Engine,
  { model, pcm }: { readonly model: ModelId; readonly pcm: Uint8Array },
): Promise<Extract<EngineEvent, { type: 'final' }>> {
  const stream = await engine.open({ model, signal: AbortSignal.timeout(60_000) });
  try {
    for (let at = 0; at < pcm.length; at += FRAME_BYTES) {
      // Copy it, because the engine takes ownership of the buffer.
      await stream.write(Uint8Array.from(pcm.subarray(at, at + FRAME_BYTES)));
    }
    stream.flush();
    for await (const event of stream.events) {
      if (event.type === 'final') return event;
      if (event.type === 'error') throw new Error(`The engine failed: ${event.reason}`);
    }
    throw new Error('The engine ended without a final.');
  } finally {
    await stream.close();
  }
}
