import { CtcEncoder } from '@svc-asr/engine';
import { ownCpuMs } from '@svc-asr/eval/statistics.ts';
import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { toUtterance } from '@svc-asr/testing/speech/bare-recogniser.ts';
import { answerOrders } from '../measured-process.ts';
import type { BareAnswer, BareOrder } from './bare-main.ts';
import { pcmOf } from './utterances.ts';

/** Runs the encoder alone in its own process: the windows that a stream encodes, nothing else. */
const encoder = await CtcEncoder.load(process.argv[2] ?? '');
const LEFT_SAMPLES = 32_000;

async function carryOut(order: BareOrder): Promise<BareAnswer> {
  const windows = order.flat().flatMap((plan) => {
    return windowsOf(toUtterance({ model: plan.model, pcm: pcmOf(plan) }).samples);
  });
  const decodesMs: number[] = [];
  const beforeMs = ownCpuMs();
  for (const window of windows) {
    const beganMs = performance.now();
    await encoder.run(window);
    decodesMs.push(performance.now() - beganMs);
  }
  return { texts: [], cpuMs: ownCpuMs() - beforeMs, decodesMs };
}

/** Each chunk with the chunk before it and two seconds before that (ADR 0016), normalised. */
function windowsOf(samples: Float32Array): Float32Array<ArrayBuffer>[] {
  const windows = [];
  for (let at = 0; at < samples.length; at += CHUNK_SAMPLES) {
    const from = Math.max(0, at - CHUNK_SAMPLES - LEFT_SAMPLES);
    windows.push(normalised(samples.slice(from, at + CHUNK_SAMPLES)));
  }
  return windows;
}

function normalised(samples: Float32Array): Float32Array<ArrayBuffer> {
  const mean = samples.reduce((sum, sample) => sum + sample, 0) / samples.length;
  const variance = samples.reduce((sum, sample) => sum + (sample - mean) ** 2, 0) / samples.length;
  return new Float32Array(samples.map((sample) => (sample - mean) / Math.sqrt(variance + 1e-5)));
}

answerOrders(carryOut);
