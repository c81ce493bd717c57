import { setTimeout as sleep } from 'node:timers/promises';
import { SPEECH } from '@svc-asr/testing/speech/fixtures.ts';
import type { CampaignResult } from '../campaign.ts';
import { percentile } from '@svc-asr/eval/statistics.ts';
import type { Fleet } from './fleet.ts';
import { emptyTally, LiveCaller } from './live-caller.ts';
import { metric } from './metrics.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';

/** The longest pause that users may notice. */
const LAG_MS_MAX = { kill: 1_500, stop: 4_000 } as const;
/** Time after a fault for late results to arrive. */
const WATCH_MS = { kill: 2_500, stop: 5_500 } as const;
const CREDIT_MS = 7_200_000;

type Fault = keyof typeof LAG_MS_MAX;

export interface LossInput {
  readonly fleet: Fleet;
  readonly service: ServiceProcess;
  readonly streams: number;
  readonly faults: number;
  /** Off in CI, where other jobs share the machine. */
  readonly judgeLag: boolean;
  /** Injects a fault into one recogniser. */
  strike(fault: Fault): Promise<void>;
  /** Resolves when all recognisers serve again. */
  whole(): Promise<void>;
  /** Healthy recognisers that the service treated as lost. */
  falseFailovers(): number;
  /** Runs after the last fault, while all streams are open. */
  atEnd?(): Promise<void>;
  /** The texts of the sentences with other weights than the bundled ones. */
  readonly texts?: ReadonlyMap<string, string>;
  readonly log: (line: string) => void;
}

/** Kills and stops recognisers under live streams. No stream may pause for long. */
export async function measureLosses(input: LossInput): Promise<CampaignResult> {
  const { fleet, service, streams, faults, log } = input;
  const tally = emptyTally();
  const tenants = await fleet.addTenants(streams, CREDIT_MS);
  const callers = tenants.map((tenant, at) => {
    const sentence = SPEECH[at % SPEECH.length]?.name ?? '';
    return new LiveCaller({
      service,
      tenant,
      sentence,
      tally,
      expected: input.texts?.get(sentence),
    });
  });
  const speaking = callers.map(() => Promise.withResolvers<void>());
  const runs = Promise.all(callers.map((caller, at) => caller.run(() => speaking[at]?.resolve())));
  await Promise.race([runs, Promise.all(speaking.map(({ promise }) => promise))]);
  const lags: Record<Fault, number[]> = { kill: [], stop: [] };
  let hit = 0;
  for (let turn = 0; turn < faults; turn += 1) {
    const fault = turn % 2 === 0 ? 'kill' : 'stop';
    const before = await lostStreams(service);
    const answers = callers.map((caller) => {
      caller.takeLagMs();
      return caller.answers;
    });
    await input.strike(fault);
    await sleep(WATCH_MS[fault]);
    await input.whole();
    while ((await metric(service, 'svc_engine_replay_recovering')) > 0) await sleep(50);
    // Every stream has had a final since, so the next fault starts from the normal state.
    while (callers.some((caller, at) => caller.answers === answers[at])) await sleep(50);
    const lost = (await lostStreams(service)) - before;
    // The service doesn't report which streams it moved, so the slowest ones are assumed.
    const slowest = callers.map((caller) => caller.takeLagMs()).toSorted((a, b) => b - a);
    lags[fault].push(...slowest.slice(0, lost));
    hit += lost;
    if (turn % 10 === 9) log(`${turn + 1} faults, ${hit} streams hit, ${tally.failed} failed`);
  }
  const falseFailovers = input.falseFailovers();
  await input.atEnd?.();
  for (const caller of callers) caller.stop();
  await runs;
  const kill = Math.round(percentile(lags.kill, 0.99));
  const stop = Math.round(percentile(lags.stop, 0.99));
  const { failed, lost, repeated, different_texts, broken_prefixes, billed_difference_ms } = tally;
  const wrong = failed + lost + repeated + different_texts + broken_prefixes + billed_difference_ms;
  return {
    passed:
      wrong + falseFailovers === 0 &&
      hit > 0 &&
      (!input.judgeLag || (kill <= LAG_MS_MAX.kill && stop <= LAG_MS_MAX.stop)),
    figures: {
      faults,
      streams,
      ...tally,
      hit,
      false_failovers: falseFailovers,
      lag_p50_ms: Math.round(percentile(lags.kill, 0.5)),
      lag_p99_ms: kill,
      stop_lag_p50_ms: Math.round(percentile(lags.stop, 0.5)),
      stop_lag_p99_ms: stop,
    },
  };
}

/** Returns how many times streams have lost their recogniser so far. */
function lostStreams(service: ServiceProcess): Promise<number> {
  return metric(service, 'svc_engine_streams_lost_total');
}
