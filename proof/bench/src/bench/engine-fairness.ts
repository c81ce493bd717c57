import { startSherpaEngine } from '@svc-asr/engine';
import { MODELS_DIR } from '@svc-asr/testing/speech/fixtures.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { LiveSpeaker, speakFor } from '../engine/live-speaker.ts';
import { percentile, round } from '@svc-asr/eval/statistics.ts';
import { cpuMsOf } from '../engine/processor.ts';
import { distinctUtterance } from '../engine/utterances.ts';

const LIVE_STREAMS = 20;
const FAST_SPEED = 50;
const SENTENCES = 4;
/** Goal: less than 1.5 times the lag. */
const GROWTH_MAX = 1.5;

export const about =
  '20 live streams with and without a sender at 50 times real time: p99 delta lag in CPU time';

/**
 * Alternates between windows with and without the fast sender. Lag is measured in the child's CPU time, which is the
 * part that the scheduler controls: how much other work was done before a chunk's words arrived.
 */
export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const windows = short ? 2 : 8;
  const windowMs = short ? 5_000 : 12_000;
  const engine = await startSherpaEngine({ modelsDir: MODELS_DIR, children: 1 });
  try {
    const pids = engine.children().map(({ pid }) => pid);
    const speakers: LiveSpeaker[] = [];
    for (let at = 0; at < LIVE_STREAMS; at += 1) {
      const plan = distinctUtterance(at, SENTENCES);
      speakers.push(await LiveSpeaker.open(engine, plan, { clock: () => cpuMsOf(pids) }));
    }
    const drain = (): number[] => speakers.flatMap((speaker) => speaker.lagsMs.splice(0));
    await speakFor(speakers, 2_000);
    drain();
    const alone: number[] = [];
    const beside: number[] = [];
    let fastAudioS = 0;
    for (let window = 0; window < windows; window += 1) {
      await speakFor(speakers, windowMs);
      alone.push(...drain());
      const plan = distinctUtterance(window, SENTENCES);
      const fast = await LiveSpeaker.open(engine, plan, { speed: FAST_SPEED });
      await speakFor([fast, ...speakers], windowMs);
      fastAudioS += fast.spokenS;
      await fast.close();
      beside.push(...drain());
    }
    for (const speaker of speakers) await speaker.close();
    const p99 = { alone: percentile(alone, 0.99), beside: percentile(beside, 0.99) };
    const growth = p99.beside / p99.alone;
    log(`alone:  ${alone.length} deltas, p50 ${percentile(alone, 0.5).toFixed(1)} ms`);
    log(`beside: ${beside.length} deltas, p50 ${percentile(beside, 0.5).toFixed(1)} ms`);
    return {
      passed: growth < GROWTH_MAX,
      figures: {
        lag_p99_alone_ms: round(p99.alone),
        lag_p99_beside_ms: round(p99.beside),
        growth: round(growth, 2),
        fast_speed: Math.round(fastAudioS / ((windows * windowMs) / 1000)),
      },
    };
  } finally {
    await engine.close();
  }
}
