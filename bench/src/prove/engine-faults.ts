import { readdirSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';
import { startSherpaEngine, type SherpaEngine } from '@svc-asr/engine';
import { childrenOf } from '@svc-asr/local/child-process.ts';
import { MODELS_DIR } from '@svc-asr/testing/speech/fixtures.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { startBare } from '../engine/bare.ts';
import { LoopingStream } from '../engine/looping-stream.ts';
import { distinctUtterance } from '../engine/utterances.ts';

const STREAMS = 40;
const CHILDREN = 2;
const SENTENCES = 1;
const REPORT_MS_MAX = 3_000;
const HEAP_GROWTH_KIB_MAX = 4 * 1024;

export const about =
  '200 times kill -9 or SIGSTOP of a child under 40 streams: errors in time, others unaffected';

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const faults = short ? 4 : 200;
  const plans = Array.from({ length: 8 }, (_, at) => distinctUtterance(at, SENTENCES));
  const bare = await startBare();
  const texts = (await bare.run([plans])).texts.flat();
  await bare.stop();
  const engine = await startSherpaEngine({ modelsDir: MODELS_DIR, children: CHILDREN });
  const streams = Array.from({ length: STREAMS }, (_, at) => {
    const plan = plans[at % plans.length];
    if (plan === undefined) throw new RangeError('No such plan.');
    return new LoopingStream({ engine, plan, expected: texts[at % plans.length] ?? '' });
  });
  try {
    await Promise.all(streams.map((stream) => stream.open()));
    const tally = { affected: 0, late: 0, disturbed: 0, slowestMs: 0 };
    const before = holdings();
    for (let fault = 0; fault < faults; fault += 1) {
      await strike({ engine, streams, signal: fault % 2 === 0 ? 'SIGKILL' : 'SIGSTOP', tally });
      if (fault % 20 === 19) log(`${fault + 1} faults, ${tally.affected} streams notified`);
    }
    const left = holdings();
    const finals = streams.reduce((sum, stream) => sum + stream.finals, 0);
    const wrong = streams.reduce((sum, stream) => sum + stream.wrong, 0);
    const heapGrowthKib = left.heapKib - before.heapKib;
    await Promise.all(streams.map((stream) => stream.close()));
    const passed =
      tally.late + tally.disturbed + wrong === 0 &&
      left.children === CHILDREN &&
      left.handles <= before.handles &&
      heapGrowthKib <= HEAP_GROWTH_KIB_MAX;
    return {
      passed,
      figures: {
        faults,
        affected: tally.affected,
        late: tally.late,
        disturbed: tally.disturbed,
        wrong_texts: wrong,
        finals,
        told_max_ms: Math.round(tally.slowestMs),
        children_left: left.children,
        handle_growth: left.handles - before.handles,
        heap_growth_kib: heapGrowthKib,
      },
    };
  } finally {
    await engine.close();
  }
}

/** Kills or stops one child. Its streams get an error, all others get their next final, and the pool recovers. */
async function strike(input: {
  readonly engine: SherpaEngine;
  readonly streams: readonly LoopingStream[];
  readonly signal: NodeJS.Signals;
  readonly tally: { affected: number; late: number; disturbed: number; slowestMs: number };
}): Promise<void> {
  const { engine, streams, signal, tally } = input;
  const children = engine.children();
  const victim = children[Math.floor(Math.random() * children.length)];
  if (victim === undefined) throw new Error('No child is ready.');
  const affected = streams.filter((stream) => stream.childPid === victim.pid);
  const others = streams.filter((stream) => stream.childPid !== victim.pid);
  const nextFinals = others.map((stream) => stream.nextFinal());
  const struckAtMs = performance.now();
  process.kill(victim.pid, signal);
  const errorsAtMs = await Promise.all(affected.map((stream) => stream.errorAt));
  const reportedMs = errorsAtMs.map((atMs) => atMs - struckAtMs);
  tally.affected += affected.length;
  tally.late += reportedMs.filter((ms) => ms > REPORT_MS_MAX).length;
  tally.slowestMs = Math.max(tally.slowestMs, ...reportedMs);
  const undisturbed = await Promise.all(nextFinals);
  tally.disturbed += undisturbed.filter((came) => !came).length;
  while (engine.children().length < CHILDREN) await after(20);
  await Promise.all(affected.map((stream) => stream.open()));
}

/** Resources that a leak would increase. */
function holdings(): { children: number; handles: number; heapKib: number } {
  globalThis.gc?.();
  return {
    children: childrenOf(process.pid).length,
    handles: readdirSync('/proc/self/fd').length,
    heapKib: Math.round(process.memoryUsage().heapUsed / 1024),
  };
}
