import { mkdir, readFile, writeFile } from 'node:fs/promises';
import type { FaultName } from '../world/faults.ts';
import { realNowMs } from '../virtual/globals.ts';
import { planFor, type Plan } from '../world/plan.ts';
import type { OpenLedger } from '../world/world.ts';
import { drawSequence } from './diagram.ts';
import { runPlan, type RunResult } from './run-plan.ts';
import { shrink } from './shrink.ts';

export interface CampaignInput {
  readonly from: number;
  readonly seeds: number;
  /** Only these kinds. Empty: all. */
  readonly faults: readonly FaultName[];
  readonly openLedger: OpenLedger;
  /** Shows the trace of every run. */
  readonly shows: boolean;
}

export interface Figures {
  readonly seeds: number;
  readonly seeds_per_s: number;
  /** By the processor time of this process, for machines that other work shares. */
  readonly seeds_per_cpu_s: number;
  readonly violations: number;
  /** Seeds whose second run differed from the first. */
  readonly differing: number;
  readonly virtual_h: number;
}

/** Every so many seeds, a seed runs twice. */
const TWICE_EVERY = 50;
const PROGRESS_MS = 10_000;
/** Failing seeds that are shrunk. The others are only listed. */
const SHRUNK_MAX = 3;
const FAILURES = new URL('../../../../.cache/simulate/', import.meta.url);

/** Runs seeds one after the other. Prints what failed, cut down to a short trace. */
export async function runCampaign(input: CampaignInput): Promise<Figures> {
  const { from, seeds, faults } = input;
  const run = (plan: Plan): Promise<RunResult> => runPlan(plan, input.openLedger);
  const beganMs = realNowMs();
  const usage = process.cpuUsage();
  const outcomes = new Map<string, number>();
  const failed: number[] = [];
  let shownMs = beganMs;
  let differing = 0;
  let virtualMs = 0;
  let done = 0;
  for (let seed = from; seed < from + seeds; seed += 1) {
    const plan = planFor(seed, faults);
    const result = await run(plan);
    done += 1;
    virtualMs += result.virtualMs;
    for (const outcome of result.outcomes) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    if (seed % TWICE_EVERY === 0 && (await run(plan)).hash !== result.hash) {
      differing += 1;
      console.log(`seed ${seed}: the second run differs from the first`);
    }
    if (input.shows) show(result);
    if (result.violations.length > 0) {
      failed.push(seed);
      await reportFailure(result, failed.length <= SHRUNK_MAX ? run : null);
    }
    if (realNowMs() - shownMs >= PROGRESS_MS) {
      shownMs = realNowMs();
      const perSecond = ((1000 * done) / (shownMs - beganMs)).toFixed(1);
      console.log(`${done} of ${seeds} seeds, ${perSecond}/s, ${failed.length} failed`);
    }
  }
  for (const [outcome, count] of [...outcomes].toSorted((a, b) => b[1] - a[1])) {
    console.log(`${String(count).padStart(8)} clients: ${outcome}`);
  }
  if (failed.length > 0) console.log(`failed seeds: ${failed.join(' ')}`);
  return {
    seeds,
    seeds_per_s: round((1000 * done) / (realNowMs() - beganMs)),
    seeds_per_cpu_s: round((1e6 * done) / processorTime(usage)),
    violations: failed.length,
    differing,
    virtual_h: round(virtualMs / 3_600_000),
  };
}

/** Runs a plan from a file, as a failing seed leaves it. */
export async function replayPlan(file: string, openLedger: OpenLedger): Promise<RunResult> {
  const plan: Plan = JSON.parse(await readFile(file, 'utf8'));
  const result = await runPlan(plan, openLedger);
  show(result);
  return result;
}

/** Without `run` the plan is not shrunk. */
async function reportFailure(
  result: RunResult,
  run: ((plan: Plan) => Promise<RunResult>) | null,
): Promise<void> {
  const { seed } = result.plan;
  for (const violation of result.violations) console.log(`seed ${seed}: ${violation}`);
  if (run === null) return;
  const smallest = await shrink(result, run);
  show(smallest);
  const file = new URL(`seed-${seed}.json`, FAILURES);
  await mkdir(FAILURES, { recursive: true });
  await writeFile(file, `${JSON.stringify(smallest.plan, null, 2)}\n`);
  console.log(`The smallest plan: npm run simulate -- --plan ${file.pathname}`);
}

function show({ plan, trace, violations, hash, steps }: RunResult): void {
  console.log(drawSequence(trace));
  for (const violation of violations) console.log(`   ${violation}`);
  console.log(`seed ${plan.seed}: ${steps} steps, hash ${hash.toString(16)}`);
}

/** In microseconds. */
function processorTime(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return user + system;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
