import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { CompatibleFleet } from '../compatible/compatible-fleet.ts';
import type { SpeakOrder, Spoken } from '../compatible/speaker-main.ts';
import { percentile, round } from '@svc-asr/eval/statistics.ts';
import { MeasuredProcess } from '../measured-process.ts';
import { cpuSecondsOf } from '../reserve/cpu-time.ts';
import { numbers } from '../service/concurrency.ts';

/** Compares Deepgram's socket with the SDK: CPU time for a second of audio, and the time from the end of speech to the final. */
const SPEAKER = new URL('../compatible/speaker-main.ts', import.meta.url);
const CREDIT_MS = 3_600_000;
/** A process of `svc-compatible` serves at least 50 live streams on one core. */
const CPU_MS_MAX = 20;

export const about = "what svc-compatible adds to the SDK: CPU time and lag of Deepgram's socket";

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const [speakers, sentences, rounds] = short ? [2, 1, 2] : [6, 2, 6];
  const service = await CompatibleFleet.start();
  const speaker = await MeasuredProcess.start<SpeakOrder, Spoken>(SPEAKER);
  try {
    const tenants = await service.fleet.addTenants(speakers, CREDIT_MS);
    const apiKeys = tenants.map(({ apiKey }) => apiKey);
    const paths = {
      sdk: { url: service.api.url, pid: speaker.pid },
      deepgram: { url: service.url, pid: service.program.pid },
    } as const;
    const measured = { sdk: new Measured(), deepgram: new Measured() };
    const measure = async (path: keyof typeof paths): Promise<void> => {
      const { url, pid } = paths[path];
      const before = cpuSecondsOf(pid);
      const spoken = await speaker.run({ path, url, apiKeys, sentences });
      measured[path].add(spoken, cpuSecondsOf(pid) - before);
    };
    // In turns, because other work on the machine comes and goes. The first round compiles the code.
    for (const round of numbers(rounds + 1)) {
      for (const path of ['sdk', 'deepgram'] as const) await measure(path);
      if (round === 0) Object.assign(measured, { sdk: new Measured(), deepgram: new Measured() });
    }
    const { sdk, deepgram } = measured;
    const figures = {
      cpu_ms_per_audio_s: round(deepgram.bestCpuMs),
      sdk_cpu_ms_per_audio_s: round(sdk.bestCpuMs),
      ratio: Math.round((deepgram.bestCpuMs / sdk.bestCpuMs) * 100) / 100,
      final_p50_ms: round(deepgram.bestLagMs),
      sdk_final_p50_ms: round(sdk.bestLagMs),
      added_ms_p50: round(deepgram.bestLagMs - sdk.bestLagMs),
    };
    log(JSON.stringify(figures));
    return { passed: figures.cpu_ms_per_audio_s <= CPU_MS_MAX, figures };
  } finally {
    await speaker.stop();
    await service.stop();
  }
}

/** What one path took, by round. The best round is the one that other work on the machine disturbed least. */
class Measured {
  readonly #lagsMs: number[] = [];
  readonly #cpuMs: number[] = [];

  add({ audioS, lagsMs }: Spoken, cpuS: number): void {
    this.#lagsMs.push(percentile(lagsMs, 0.5));
    this.#cpuMs.push((cpuS * 1000) / audioS);
  }

  /** For a second of audio. */
  get bestCpuMs(): number {
    return Math.min(...this.#cpuMs);
  }

  /** The median of a round's sentences. */
  get bestLagMs(): number {
    return Math.min(...this.#lagsMs);
  }
}
