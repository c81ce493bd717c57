import { fork } from 'node:child_process';
import { join } from 'node:path';
import type { Mutant } from './mutant.ts';

const MAIN = join(import.meta.dirname, 'mutant-main.ts');
/** A seed takes milliseconds, on a busy machine seconds. One that takes this long hangs, which is a finding too. */
const SEED_MS_MAX = 600_000;

/** Sent by the process that runs the seeds. */
export type HuntMessage =
  | { readonly seed: number }
  | { readonly seed: number; readonly violation: string };

export interface Found {
  readonly seed: number;
  /** The first guarantee that was broken. */
  readonly violation: string;
}

interface Range {
  readonly from: number;
  readonly seeds: number;
}

/**
 * Runs seeds with a planted bug until one finds it. Returns null if none does. A process that ends or hangs has found it
 * as well. A seed that fails without the bug doesn't count.
 */
export async function hunt(mutant: Mutant, { from, seeds }: Range): Promise<Found | null> {
  for (let next = from; next < from + seeds;) {
    const found = await runSeeds([mutant.name, String(next), String(from + seeds - next)], next);
    if (found === null) return null;
    const clean = await runSeeds([mutant.name, String(found.seed), '1', 'clean'], found.seed);
    if (clean === null) return found;
    next = found.seed + 1;
  }
  return null;
}

function runSeeds(args: readonly string[], first: number): Promise<Found | null> {
  const child = fork(MAIN, args, {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let seed = first;
  let found: Found | null = null;
  let errors = '';
  child.stderr?.on('data', (bytes: Buffer) => (errors = (errors + bytes.toString()).slice(-4_000)));
  const hang = (): void => {
    found = { seed, violation: `the run of the seed took more than ${SEED_MS_MAX} ms` };
    child.kill('SIGKILL');
  };
  let timer = setTimeout(hang, SEED_MS_MAX);
  child.on('message', (message: HuntMessage) => {
    clearTimeout(timer);
    timer = setTimeout(hang, SEED_MS_MAX);
    seed = message.seed;
    if ('violation' in message) found ??= message;
  });
  return new Promise((resolve) => {
    child.on('close', (code) => {
      clearTimeout(timer);
      if (found === null && code !== 0) found = { seed, violation: firstError(errors) };
      resolve(found);
    });
  });
}

function firstError(errors: string): string {
  const line = errors.split('\n').find((text) => /Error/.test(text));
  return `the process ended: ${line?.trim() ?? 'without an error message'}`;
}
