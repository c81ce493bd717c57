import { monitorEventLoopDelay } from 'node:perf_hooks';
import { startSherpaEngine, type SherpaEngine } from '@svc-asr/engine';
import { MODELS_DIR } from '@svc-asr/engine/test/speech.ts';
import type { Campaign, CampaignOptions, CampaignResult } from '../campaign.ts';
import { Bare } from '../engine/bare.ts';
import { LiveSpeaker, speakFor } from '../engine/live-speaker.ts';
import { percentile } from '../engine/percentile.ts';
import { cpuMsOf, ownCpuMs, residentKib } from '../engine/processor.ts';
import { distinctUtterance, pcmOf, secondsOf, type UtterancePlan } from '../engine/utterances.ts';

const STREAMS = [1, 4, 16, 64] as const;
const GOALS = { ratio: 0.9, loopP99Ms: 20, addedMs: 10 };
/** About ten seconds: four sentences. */
const SENTENCES = 4;
const FRAME_BYTES = 3_200;
const LIVE_STREAMS = 64;
const never = new AbortController().signal;

export const campaign: Campaign = {
  about: 'the pool through the port against bare sherpa-onnx: audio seconds per CPU second, lag',
  run,
};

async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const bare = await Bare.start();
  const engine = await startSherpaEngine({ modelsDir: MODELS_DIR, children: 1 });
  try {
    const ratios: Record<string, number> = {};
    for (const streams of STREAMS) {
      const ratio = await compare({ bare, engine, streams, short, log });
      ratios[`ratio_${streams}`] = ratio;
    }
    const opening = await measureOpening(engine);
    const windows = short ? { windows: 2, windowMs: 2_000 } : { windows: 8, windowMs: 3_000 };
    const live = await measureLive(engine, { streams: LIVE_STREAMS, ...windows });
    const half = await measureAdded({ bare, engine, ...windows, log });
    const figures = {
      ...ratios,
      loop_p99_ms: live.loopP99Ms,
      added_ms_p50: half.addedMs,
      kib_per_stream: opening.kibPerStream,
      open_ms_p50: opening.openMs,
    };
    const passed =
      (ratios['ratio_16'] ?? 0) >= GOALS.ratio &&
      (ratios['ratio_64'] ?? 0) >= GOALS.ratio &&
      live.loopP99Ms <= GOALS.loopP99Ms &&
      half.addedMs <= GOALS.addedMs;
    return { passed, figures: rounded(figures) };
  } finally {
    await engine.close();
    await bare.stop();
  }
}

interface Comparison {
  readonly bare: Bare;
  readonly engine: SherpaEngine;
  readonly streams: number;
  readonly short: boolean;
  readonly log: (line: string) => void;
}

/** Side by side in turns: what else the machine does then weighs on both alike. */
async function compare({ bare, engine, streams, short, log }: Comparison): Promise<number> {
  const rounds = short ? 1 : 5;
  // Enough audio that the clock's grain and the first decode do not matter.
  const turns = Math.max(1, Math.round((short ? 8 : 64) / streams));
  const plans = Array.from({ length: turns }, (_, turn) =>
    Array.from({ length: streams }, (_, at) => distinctUtterance(turn * streams + at, SENTENCES)),
  );
  const audioS = plans.flat().reduce((sum, plan) => sum + secondsOf(pcmOf(plan)), 0);
  const bareRates: number[] = [];
  const poolRates: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    bareRates.push(audioS / ((await bare.recognise(plans)).cpuMs / 1000));
    poolRates.push(audioS / ((await throughPool(engine, plans)) / 1000));
  }
  const ratio = percentile(
    bareRates.map((rate, at) => (poolRates[at] ?? 0) / rate),
    0.5,
  );
  const [bareRate, poolRate] = [percentile(bareRates, 0.5), percentile(poolRates, 0.5)];
  log(
    `${String(streams).padStart(3)} streams: bare ${bareRate.toFixed(0)}, ` +
      `pool ${poolRate.toFixed(0)} audio s per CPU s, ratio ${ratio.toFixed(3)}`,
  );
  return ratio;
}

/** Processor time of parent and children while every stream sends as fast as it may. */
async function throughPool(
  engine: SherpaEngine,
  plans: readonly (readonly UtterancePlan[])[],
): Promise<number> {
  const pids = engine.children().map(({ pid }) => pid);
  const pcm = plans.map((turn) => turn.map(pcmOf));
  const before = ownCpuMs() + cpuMsOf(pids);
  await Promise.all(
    (plans[0] ?? []).map(async ({ model }, at) => {
      const stream = await engine.open({ model, signal: never });
      const events = stream.events[Symbol.asyncIterator]();
      for (const turn of pcm) {
        const speech = turn[at] ?? new Uint8Array();
        for (let from = 0; from < speech.length; from += FRAME_BYTES) {
          await stream.write(speech.subarray(from, from + FRAME_BYTES));
        }
        stream.flush();
        while ((await events.next()).value?.type !== 'final');
      }
      await stream.close();
    }),
  );
  return ownCpuMs() + cpuMsOf(pids) - before;
}

async function measureOpening(
  engine: SherpaEngine,
): Promise<{ openMs: number; kibPerStream: number }> {
  const pids = [process.pid, ...engine.children().map(({ pid }) => pid)];
  const resident = (): number => pids.reduce((sum, pid) => sum + residentKib(pid), 0);
  const before = resident();
  const opensMs: number[] = [];
  const streams = [];
  for (let count = 0; count < LIVE_STREAMS; count += 1) {
    const plan = distinctUtterance(count, SENTENCES);
    const beganMs = performance.now();
    const stream = await engine.open({ model: plan.model, signal: never });
    opensMs.push(performance.now() - beganMs);
    streams.push({ stream, plan });
  }
  for (const { stream, plan } of streams) {
    await stream.write(pcmOf(plan));
    stream.flush();
    for await (const event of stream.events) if (event.type === 'final') break;
  }
  const kibPerStream = (resident() - before) / LIVE_STREAMS;
  for (const { stream } of streams) await stream.close();
  return { openMs: percentile(opensMs, 0.5), kibPerStream };
}

async function measureLive(
  engine: SherpaEngine,
  input: { streams: number; windows: number; windowMs: number },
): Promise<{ loopP99Ms: number; lagMs: number }> {
  const speakers: LiveSpeaker[] = [];
  for (let at = 0; at < input.streams; at += 1) {
    speakers.push(await LiveSpeaker.open(engine, distinctUtterance(at, SENTENCES)));
  }
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const lagsMs: number[] = [];
  for (let window = 0; window < input.windows; window += 1) {
    await speakFor(speakers, input.windowMs);
    const lags = speakers.flatMap((speaker) => speaker.lagsMs.splice(0));
    lagsMs.push(percentile(lags, 0.5));
  }
  delay.disable();
  for (const speaker of speakers) await speaker.close();
  // Other work on the machine can only add: the quietest window says most about the engine itself.
  return { loopP99Ms: delay.percentile(99) / 1e6, lagMs: Math.min(...lagsMs) };
}

/** At half load: as many live streams as keep a child busy half of the time. */
async function measureAdded(input: {
  readonly bare: Bare;
  readonly engine: SherpaEngine;
  readonly windows: number;
  readonly windowMs: number;
  readonly log: (line: string) => void;
}): Promise<{ addedMs: number }> {
  const alone = await input.bare.recognise([[distinctUtterance(0, 8)], [distinctUtterance(1, 8)]]);
  const decodeMs = percentile(alone.decodesMs, 0.5);
  const chunkMs = 1_120;
  const streams = Math.min(Math.round((chunkMs / decodeMs) * 0.5), input.engine.health().capacity);
  const { lagMs } = await measureLive(input.engine, { ...input, streams });
  input.log(
    `half load, ${streams} live streams: delta ${lagMs.toFixed(1)} ms after its last sample; ` +
      `bare decode ${decodeMs.toFixed(1)} ms`,
  );
  return { addedMs: lagMs - decodeMs };
}

function rounded(figures: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [name, Math.round(value * 1000) / 1000]),
  );
}
