import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { percentile } from '@svc-asr/eval/statistics.ts';
import { cpuMsOf, residentKib } from '../engine/processor.ts';
import { distinctUtterance, type UtterancePlan } from '../engine/utterances.ts';
import { numbers } from '../service/concurrency.ts';
import { Fleet } from '../service/fleet.ts';
import { startLoad } from '../service/load.ts';
import type { LoadAnswer } from '../service/load-main.ts';
import { SherpaServer } from '../service/sherpa-server.ts';
import { openSessions } from '../service/sessions.ts';

/** Compares our server with sherpa-onnx's own, which has no sessions and no metering. Same weights, same clients. */
const LAG_ALLOWED_MS = 250;
const LIVE_STEPS = [40, 80, 120, 160, 200];

interface Contender {
  readonly name: string;
  readonly pids: () => readonly number[];
  /** Prepares everything, so that only the streams are measured. */
  readonly prepare: (
    plans: readonly UtterancePlan[],
    speed: number,
  ) => Promise<() => Promise<LoadAnswer>>;
}

export const about = "compares with sherpa-onnx's own WebSocket server: same weights, same clients";

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const peer = await SherpaServer.start();
  const [fleet, load] = await Promise.all([Fleet.start(), startLoad()]);
  try {
    const service = await fleet.launch({ ENGINE_SLOTS_PER_CHILD: '500' });
    const ours: Contender = {
      name: 'ours',
      pids: () => [service.pid, ...service.children()],
      async prepare(plans, speed) {
        const sessions = await openSessions({ fleet, service }, plans);
        const url = service.streamUrl;
        return () => load.run({ url, protocol: 'ours', sessions, plans, speed });
      },
    };
    const theirs: Contender = {
      name: 'peer',
      pids: () => [peer.pid],
      async prepare(plans, speed) {
        const sessions = plans.map(() => null);
        const { url } = peer;
        return () => load.run({ url, protocol: 'sherpa', sessions, plans, speed });
      },
    };
    const rates = await compareRates([ours, theirs], { short, log });
    const held = {
      ours: await streamsHeld(ours, { short, log }),
      theirs: await streamsHeld(theirs, { short, log }),
    };
    const ratio = Number((rates.ours / rates.theirs).toFixed(3));
    const figures = {
      ours_streams: held.ours,
      peer_streams: held.theirs,
      ours_audio_s_per_cpu_s: Math.round(rates.ours),
      peer_audio_s_per_cpu_s: Math.round(rates.theirs),
      ratio,
      ours_mib: memoryMib(ours),
      peer_mib: memoryMib(theirs),
    };
    return { passed: ratio >= 1 && held.ours >= held.theirs, figures };
  } finally {
    await fleet.stop();
    await load.stop();
    await peer.stop();
  }
}

function memoryMib(contender: Contender): number {
  return Math.round(residentKib(...contender.pids()) / 1024);
}

/** Alternates between the servers and takes the median of each. */
async function compareRates(
  [ours, theirs]: readonly [Contender, Contender],
  { short, log }: { short: boolean; log: (line: string) => void },
): Promise<{ ours: number; theirs: number }> {
  const plans = numbers(short ? 8 : 32).map((at) =>
    distinctUtterance(at * (short ? 1 : 7), short ? 2 : 8),
  );
  const rates: { ours: number[]; theirs: number[] } = { ours: [], theirs: [] };
  // Warm up both, so that neither compiles or loads anything while it is measured.
  await rateOf(ours, plans);
  await rateOf(theirs, plans);
  for (const _ of numbers(short ? 1 : 5)) {
    rates.ours.push(await rateOf(ours, plans));
    rates.theirs.push(await rateOf(theirs, plans));
    log(
      `ours ${rates.ours.at(-1)?.toFixed(0)}, peer ${rates.theirs.at(-1)?.toFixed(0)} audio s per CPU s`,
    );
  }
  return { ours: percentile(rates.ours, 0.5), theirs: percentile(rates.theirs, 0.5) };
}

async function rateOf(contender: Contender, plans: readonly UtterancePlan[]): Promise<number> {
  const speak = await contender.prepare(plans, 0);
  const before = cpuMsOf(contender.pids());
  const answer = await speak();
  if (answer.broken > 0) throw new Error(`${answer.broken} streams of ${contender.name} broke.`);
  return answer.audioS / ((cpuMsOf(contender.pids()) - before) / 1000);
}

async function streamsHeld(
  contender: Contender,
  { short, log }: { short: boolean; log: (line: string) => void },
): Promise<number> {
  let held = 0;
  for (const streams of short ? [4] : LIVE_STEPS) {
    const plans = numbers(streams).map((at) => distinctUtterance(at, short ? 2 : 6));
    const answer = await (await contender.prepare(plans, 1))();
    const lagMs = percentile(answer.deltaLagMs, 0.95);
    log(`${contender.name}: ${streams} live streams, lag p95 ${lagMs.toFixed(0)} ms`);
    if (answer.broken > 0 || lagMs > LAG_ALLOWED_MS) break;
    held = streams;
  }
  return held;
}
