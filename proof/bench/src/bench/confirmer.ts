import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { SileroConfirmer } from '@svc-asr/engine';
import { eventually } from '@svc-asr/testing/eventually.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { ownCpuMs, percentile, round } from '@svc-asr/eval/statistics.ts';
import { cpuMsOf, residentKib } from '../engine/processor.ts';
import { distinctUtterance, pcmOf } from '../engine/utterances.ts';
import { numbers } from '../service/concurrency.ts';

/** Cost of the second detector of speech: processor time, event loop, memory and how long audio waits. */
const STREAMS = [1, 16, 64, 256] as const;
const STREAMS_SHORT = [1, 16] as const;
const MESSAGE_MS = 100;
/** Telephones and voice agents send such small ones. */
const SMALL_MESSAGE_MS = 20;
const BYTES_PER_MS = 32;
const SENTENCES = 4;
/** Distinct recordings. More streams share them, shifted in time. */
const VOICES = 16;

export const about =
  'CPU, event loop, memory and wait of the second detector, by number of live streams';

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const figures: Record<string, number> = {};
  let isAllConfirmed = true;
  const sizes = short ? STREAMS_SHORT : STREAMS;
  const plans = [
    ...sizes.map((streams) => ({ streams, messageMs: MESSAGE_MS, suffix: '' })),
    { streams: 16, messageMs: SMALL_MESSAGE_MS, suffix: '_small_messages' },
  ];
  for (const { streams, messageMs, suffix } of plans) {
    const measured = await measure({ streams, messageMs, seconds: short ? 3 : 15 });
    isAllConfirmed &&= measured.confirmed_percent === 100;
    for (const [name, value] of Object.entries(measured)) {
      figures[`${name}_${streams}${suffix}`] = value;
    }
    log(
      `${streams} streams, messages of ${messageMs} ms: ${measured.child_ms_per_audio_s} ms of the child and ` +
        `${measured.gateway_ms_per_audio_s} ms of this process per audio second, event loop p99 ` +
        `${measured.loop_p99_ms} ms, verdicts on ${measured.confirmed_percent} % after ${measured.wait_p95_ms} ms (p95), ` +
        `${measured.child_mib} MiB`,
    );
  }
  return { passed: short || isAllConfirmed, figures };
}

async function measure({
  streams,
  messageMs,
  seconds,
}: {
  streams: number;
  messageMs: number;
  seconds: number;
}) {
  const messageBytes = messageMs * BYTES_PER_MS;
  const messages = (seconds * 1_000) / messageMs;
  const confirmer = new SileroConfirmer();
  const audio = numbers(VOICES).map((voice) => pcmOf(distinctUtterance(voice * 7, SENTENCES)));
  try {
    const listeners = numbers(streams).map(() => confirmer.open(0));
    await eventually(() => confirmer.pid !== null);
    const pid = confirmer.pid ?? 0;
    const waitsMs: number[] = [];
    const loop = monitorEventLoopDelay({ resolution: 10 });
    loop.enable();
    const before = { child: cpuMsOf([pid]), own: ownCpuMs() };
    const beganMs = performance.now();
    await Promise.all(
      listeners.map(async (listener, number) => {
        const pcm = audio[number % VOICES] ?? new Uint8Array();
        const shiftMs = (number * messageMs) / streams;
        for (const message of numbers(messages)) {
          await sleep(Math.max(0, beganMs + shiftMs + message * messageMs - performance.now()));
          const at = ((message + number) * messageBytes) % (pcm.byteLength - messageBytes);
          const sentMs = performance.now();
          void listener
            .listen(pcm.subarray(at, at + messageBytes))
            .then(() => waitsMs.push(performance.now() - sentMs));
        }
      }),
    );
    await eventually(() => waitsMs.length === streams * messages);
    loop.disable();
    const { confirmed, late, absent } = confirmer.counts();
    const share = confirmed / (confirmed + late + absent);
    // Audio that went on without a verdict costs nothing.
    const audioS = streams * seconds * share;
    return {
      child_ms_per_audio_s: round((cpuMsOf([pid]) - before.child) / audioS, 2),
      gateway_ms_per_audio_s: round((ownCpuMs() - before.own) / audioS, 2),
      loop_p99_ms: round(loop.percentile(99) / 1e6, 2),
      wait_p50_ms: round(percentile(waitsMs, 0.5), 2),
      wait_p95_ms: round(percentile(waitsMs, 0.95), 2),
      child_mib: Math.round(residentKib(pid) / 1_024),
      confirmed_percent: round(100 * share, 2),
    };
  } finally {
    await confirmer.close();
  }
}
