import type { Engine, EngineEvent } from '@svc-asr/engine';
import { AUDIO, type ModelId } from '@svc-asr/protocol';
import { toPcm } from './audio.ts';

const FRAME_BYTES = (AUDIO.sampleRateHz / 10) * AUDIO.bytesPerSample;

interface Utterance {
  readonly model: ModelId;
  readonly wave: Float32Array;
}

/** Streams one utterance through the engine like a client: frames of 100 ms, a flush, the final. */
export async function recogniseWords(
  engine: Engine,
  input: Utterance,
): Promise<Extract<EngineEvent, { type: 'final' }>> {
  const stream = await engine.open({ model: input.model, signal: AbortSignal.timeout(60_000) });
  try {
    const pcm = toPcm(input.wave);
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
