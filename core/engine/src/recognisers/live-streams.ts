import { AUDIO, CHUNK_SAMPLES } from '@svc-asr/protocol/constants.ts';

/** Share of the cores to plan with for weights that decode one stream at a time. The rest is for bursts. */
export const UNBATCHED_LOAD = 0.8;
const CHUNK_MS = (CHUNK_SAMPLES * 1000) / AUDIO.sampleRateHz;

/** How many live streams a process serves, by the processor time that one of them takes. At least one, on any machine. */
export function liveStreamsPerChild(input: {
  readonly cpuMsPerChunk: number;
  readonly threads: number;
  /** Share of the cores to plan with. The rest is for bursts. */
  readonly load: number;
}): number {
  const { cpuMsPerChunk, threads, load } = input;
  return Math.max(1, Math.floor((load * threads * CHUNK_MS) / Math.max(0.1, cpuMsPerChunk)));
}

/** The processor time of this process since `before`, in milliseconds. */
export function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
