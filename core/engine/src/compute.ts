/** What a recogniser process computes with. */
export interface Compute {
  /** Threads for one decode. More than one where a single core is too slow for one live stream. */
  readonly threads: number;
  readonly device: Device;
}

/** `cuda` refuses to start without a GPU; `cuda-or-cpu` then uses the CPU. */
export const DEVICES = ['cpu', 'cuda', 'cuda-or-cpu'] as const;
export type Device = (typeof DEVICES)[number];

export const THREADS_PER_CHILD_MAX = 64;
export const ONE_THREAD: Compute = { threads: 1, device: 'cpu' };
