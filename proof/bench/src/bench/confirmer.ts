import { setTimeout as sleep } from 'node:timers/promises';
import { SileroConfirmer } from '@svc-asr/engine';
import { ownCpuMs, percentile, round } from '@svc-asr/eval/statistics.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { distinctUtterance, pcmOf } from '../engine/utterances.ts';
import { numbers } from '../service/concurrency.ts';

/** Cost of the second detector of speech: processor time, and how long live audio waits, also beside another account's files. */
const BYTES_PER_MS = 32;
const SENTENCES = 4;
/** Distinct recordings. More streams share them, shifted in time. */
const VOICES = 16;
/** Telephones and voice agents send the small ones. */
const PLANS = [
  { name: '1', streams: 1, messageMs: 100, files: 0 },
  { name: '16', streams: 16, messageMs: 100, files: 0 },
  { name: '16_small_messages', streams: 16, messageMs: 20, files: 0 },
  { name: '16_beside_files', streams: 16, messageMs: 100, files: 8 },
  { name: '64', streams: 64, messageMs: 100, files: 0 },
] as const;
const WAIT_MS_MAX = 10;

type Plan = (typeof PLANS)[number];

export const about =
  'CPU and wait of the second detector, by number of live streams and beside files sent fast';

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const figures: Record<string, number> = {};
  for (const plan of PLANS) {
    const measured = await measure(plan, short ? 2 : 15);
    for (const [name, value] of Object.entries(measured)) figures[`${name}_${plan.name}`] = value;
    log(
      `${plan.streams} streams, messages of ${plan.messageMs} ms, ${plan.files} files: ${measured.cpu_ms_per_audio_s} ms ` +
        `of CPU per audio second, live audio waits ${measured.wait_p50_ms} ms (p95 ${measured.wait_p95_ms})`,
    );
  }
  return { passed: short || (figures['wait_p95_ms_16_beside_files'] ?? 0) < WAIT_MS_MAX, figures };
}

async function measure({ streams, messageMs, files }: Plan, seconds: number) {
  const messageBytes = messageMs * BYTES_PER_MS;
  const messages = (seconds * 1_000) / messageMs;
  const audio = numbers(VOICES).map((voice) => pcmOf(distinctUtterance(voice * 7, SENTENCES)));
  const confirmer = await SileroConfirmer.load();
  const waitsMs: number[] = [];
  const over = new AbortController();
  let fileS = 0;
  const beganMs = performance.now();
  const beganCpuMs = ownCpuMs();
  for (const number of numbers(files)) void sendFile(audio[number % VOICES] ?? new Uint8Array());
  await Promise.all(numbers(streams).map((number) => speak(number)));
  await eventually(() => waitsMs.length === streams * messages);
  over.abort();
  return {
    cpu_ms_per_audio_s: round((ownCpuMs() - beganCpuMs) / (streams * seconds + fileS), 2),
    wait_p50_ms: round(percentile(waitsMs, 0.5), 2),
    wait_p95_ms: round(percentile(waitsMs, 0.95), 2),
  };

  async function speak(number: number): Promise<void> {
    const listener = confirmer.open({ startSample: 0, owner: `caller ${number}` });
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
  }

  async function sendFile(pcm: Uint8Array): Promise<void> {
    const listener = confirmer.open({ startSample: 0, owner: 'files' });
    while (!over.signal.aborted) {
      await listener.listen(pcm);
      fileS += pcm.byteLength / BYTES_PER_MS / 1_000;
    }
  }
}
