import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Figures } from './campaign.ts';

const MAIN = new URL('../main.ts', import.meta.url).pathname;

/** Divides the seeds among processes, and adds up what they found. */
export async function runJobs(input: {
  readonly from: number;
  readonly seeds: number;
  readonly jobs: number;
  readonly options: readonly string[];
}): Promise<Figures> {
  const { from, seeds, jobs, options } = input;
  const share = Math.ceil(seeds / jobs);
  const beganMs = performance.now();
  const parts = await Promise.all(
    Array.from({ length: jobs }, (_, at) => {
      const first = from + at * share;
      const count = Math.min(share, from + seeds - first);
      return runJob(['--from', String(first), '--seeds', String(count), ...options]);
    }),
  );
  const sum = (name: keyof Figures): number =>
    Math.round(10 * parts.reduce((total, part) => total + part[name], 0)) / 10;
  return {
    seeds: sum('seeds'),
    seeds_per_s: Math.round((10_000 * seeds) / (performance.now() - beganMs)) / 10,
    seeds_per_cpu_s: Math.round(sum('seeds_per_cpu_s') / jobs),
    violations: sum('violations'),
    differing: sum('differing'),
    virtual_h: sum('virtual_h'),
  };
}

async function runJob(options: readonly string[]): Promise<Figures> {
  const child = spawn(process.execPath, [...process.execArgv, MAIN, ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let last = '';
  for await (const line of createInterface({ input: child.stdout })) {
    if (last !== '') console.log(last);
    last = line;
  }
  const { figures }: { figures: Figures } = JSON.parse(last);
  return figures;
}
