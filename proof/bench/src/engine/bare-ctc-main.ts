import { CtcModel, ctcWindows, finalFrames } from '@svc-asr/engine';
import { ownCpuMs } from '@svc-asr/eval/statistics.ts';
import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { toUtterance } from '@svc-asr/testing/speech/bare-recogniser.ts';
import { answerOrders } from '../measured-process.ts';
import type { BareAnswer, BareOrder } from './bare-main.ts';
import { pcmOf } from './utterances.ts';

/** Runs the encoder alone in its own process: the windows that a stream encodes, nothing else. */
const [path = '', tokens = ''] = process.argv.slice(2);
const model = await CtcModel.load({ model: path, tokens });

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
      const to = Math.min(samples.length, at + CHUNK_SAMPLES);
      const [keptFrames, keepTo] = [finalFrames(model, at), finalFrames(model, to)];
      await windows.encode(to, { keptFrames, keepTo });
      decodesMs.push(performance.now() - beganMs);
    }
  }
  return { texts: [], cpuMs: ownCpuMs() - beforeMs, decodesMs };
}

answerOrders(carryOut);
