import { setTimeout as sleep } from 'node:timers/promises';
import { loadManifests } from '@svc-asr/engine';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { startBareWeights, type Bare } from '../engine/bare.ts';
import { percentile, round } from '@svc-asr/eval/statistics.ts';
import { residentKib } from '../engine/processor.ts';
import { audioSeconds } from '../engine/throughput.ts';
import { distinctUtterance, type UtterancePlan } from '../engine/utterances.ts';
import { Fleet } from './fleet.ts';
import { startLoad, type Load } from './load.ts';
import { serviceCpuMs } from './service-cpu.ts';
import { openSessions } from './sessions.ts';
import { OUR_PROTOCOLS, type OurProtocol } from './wire-protocol.ts';

const STREAMS = 8;
const RATIO_GOAL = 0.8;
const LAG_GOAL_MS = 250;
/** The share of a core's streams at which lag is measured. */
const LIVE_LOAD = 0.8;
const LIVE_SENTENCES = 10;
/** After this long, every live stream is in the middle of its utterance and its caches are full. */
const SETTLED_MS = 12_000;

interface Weights {
  readonly build: string;
  readonly bare: Bare;
  readonly service: ServiceProcess;
  readonly bareRates: number[];
  readonly rates: Readonly<Record<OurProtocol, number[]>>;
}

/**
 * Measures how many live streams a core serves through the whole service with the weights of each models directory, bare, and
 * the lag with fewer. The directories take turns, so that other load on the machine affects all equally.
 */
export async function measureServedWeights(
  modelsDirs: readonly string[],
  options: CampaignOptions,
): Promise<CampaignResult> {
  const [fleet, load] = await Promise.all([Fleet.start(), startLoad()]);
  const all: Weights[] = [];
  try {
    for (const modelsDir of modelsDirs) all.push(await start(fleet, modelsDir));
    // Seconds of processor time for a second of audio, with large CTC models.
    const size = options.short ? { streams: 2, sentences: 2 } : { streams: STREAMS, sentences: 4 };
    const plans = Array.from({ length: size.streams }, (_, at) =>
      distinctUtterance(at * 7, size.sentences),
    );
    // The first round is a warm-up.
    for (let round = 0; round <= (options.short ? 1 : 3); round += 1) {
      for (const weights of all) await measureRates({ fleet, load, plans, weights, round });
    }
    const figures: Record<string, number> = {};
    let passed = true;
    for (const weights of all) {
      const measured = await figuresOf({ fleet, load, weights, options });
      options.log(`${weights.build}: ${JSON.stringify(measured)}`);
      const name = weights.build.replaceAll(/[^a-z0-9]+/gi, '_');
      for (const [figure, value] of Object.entries(measured)) figures[`${figure}_${name}`] = value;
      passed &&= measured.ratio >= RATIO_GOAL && measured.delta_lag_p95_ms <= LAG_GOAL_MS;
    }
    return { passed, figures };
  } finally {
    await fleet.stop();
    await load.stop();
    for (const { bare } of all) await bare.stop();
  }
}

async function start(fleet: Fleet, modelsDir: string): Promise<Weights> {
  const [manifest] = (await loadManifests(modelsDir)).values();
  if (manifest === undefined) throw new RangeError(`There is no model in ${modelsDir}.`);
  const service = await fleet.launch({ MODELS_DIR: modelsDir, ENGINE_SLOTS_PER_CHILD: '5000' });
  const bare = await startBareWeights(manifest, modelsDir);
  const rates = { ours: [], oursEndpointing: [], oursConfirmed: [] };
  return { build: manifest.build, bare, service, bareRates: [], rates };
}

interface Turn {
  readonly fleet: Fleet;
  readonly load: Load;
  readonly weights: Weights;
}

/** Adds the audio seconds per CPU second of this round, without and with endpointing, sent as fast as each side takes them. */
async function measureRates(
  input: Turn & { readonly plans: readonly UtterancePlan[]; readonly round: number },
): Promise<void> {
  const { weights, plans, round } = input;
  const { service, bare } = weights;
  const audioS = audioSeconds([plans]);
  const { cpuMs } = await bare.run(plans.map((plan) => [plan]));
  if (round > 0) weights.bareRates.push((1000 * audioS) / cpuMs);
  for (const protocol of OUR_PROTOCOLS) {
    const serviceMs = await serviceCpuMs({ ...input, service }, plans, protocol);
    if (round > 0) weights.rates[protocol].push((1000 * audioS) / serviceMs);
  }
}

async function figuresOf(input: Turn & { readonly options: CampaignOptions }) {
  const { fleet, load, weights, options } = input;
  const { service, bareRates, rates } = weights;
  const perCore = percentile(rates.ours, 0.5);
  const streams = Math.max(1, Math.floor(LIVE_LOAD * perCore));
  const sentences = options.short ? 6 : LIVE_SENTENCES;
  const plans = Array.from({ length: streams }, (_, at) => distinctUtterance(at, sentences));
  const resident = (): number => residentKib(service.pid, ...service.children());
  const sessions = await openSessions({ fleet, service }, plans);
  const before = resident();
  const order = { url: service.streamUrl, protocol: 'ours' as const, sessions, plans };
  const speaking = load.run({ ...order, speed: 1 });
  await sleep(SETTLED_MS);
  const settled = resident();
  const answer = await speaking;
  const words = answer.texts.join(' ').split(/\s+/).length;
  return {
    bare_streams_per_core: round(percentile(bareRates, 0.5)),
    streams_per_core: round(perCore),
    ratio: medianRatio(rates.ours, bareRates),
    ratio_endpointing: medianRatio(rates.oursEndpointing, bareRates),
    ratio_confirmed: medianRatio(rates.oursConfirmed, bareRates),
    live_streams: answer.broken > 0 ? 0 : streams,
    delta_lag_p95_ms: Math.round(percentile(answer.deltaLagMs, 0.95)),
    words_per_second: round(words / answer.audioS),
    process_mib: Math.round(before / 1024),
    kib_per_stream: Math.round((settled - before) / streams),
  };
}

function medianRatio(rates: readonly number[], bareRates: readonly number[]): number {
  const ratios = rates.map((rate, at) => rate / (bareRates[at] ?? Number.NaN));
  return round(percentile(ratios, 0.5), 3);
}
