import { CtcModel, ctcWindows, type AudioWindows } from '@svc-asr/engine';
import { ownCpuMs } from '@svc-asr/eval/statistics.ts';
import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { toUtterance } from '@svc-asr/testing/speech/bare-recogniser.ts';
import { answerOrders } from '../measured-process.ts';
import type { BareAnswer, BareOrder } from './bare-main.ts';
import { pcmOf } from './utterances.ts';

/** Runs the encoder alone in its own process: the windows that a stream encodes, nothing else. */
const [path = '', tokens = ''] = process.argv.slice(2);
const model = await CtcModel.load({ model: path, tokens });
const FRAME_SAMPLES = 320;

async function carryOut(order: BareOrder): Promise<BareAnswer> {
  const utterances = order.flat().map((plan) => {
    return toUtterance({ model: plan.model, pcm: pcmOf(plan) }).samples;
  });
  const decodesMs: number[] = [];
  const beforeMs = ownCpuMs();
  for (const samples of utterances) {
    const windows = ctcWindows(model);
    for (let at = 0; at < samples.length; at += CHUNK_SAMPLES) {
      windows.accept(samples.subarray(at, at + CHUNK_SAMPLES));
      const beganMs = performance.now();
      await encode(windows, { at, to: Math.min(samples.length, at + CHUNK_SAMPLES) });
      decodesMs.push(performance.now() - beganMs);
    }
  }
  return { texts: [], cpuMs: ownCpuMs() - beforeMs, decodesMs };
}

/** A new chunk makes the frames before it final. */
async function encode(
  windows: AudioWindows,
  { at, to }: { readonly at: number; readonly to: number },
): Promise<void> {
  const keptFrames = Math.max(0, at - CHUNK_SAMPLES) / FRAME_SAMPLES;
  await windows.encode(to, { keptFrames, keepTo: at / FRAME_SAMPLES });
}

answerOrders(carryOut);
