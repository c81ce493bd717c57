import type { Engine, EngineEvent } from '@svc-asr/engine';
import { streamRecording } from '@svc-asr/models/stream-recording.ts';
import type { ModelId } from '@svc-asr/protocol';
import { toPcm } from './audio.ts';

/** Streams one utterance through the engine like a client. */
export function recogniseWords(
  engine: Engine,
  { model, wave }: { readonly model: ModelId; readonly wave: Float32Array },
): Promise<Extract<EngineEvent, { type: 'final' }>> {
  return streamRecording(engine, { model, pcm: toPcm(wave) });
}
