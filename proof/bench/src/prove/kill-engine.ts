import { rm } from 'node:fs/promises';
import { startSherpaEngine } from '@svc-asr/engine';
import { speech, SPEECH } from '@svc-asr/testing/speech/fixtures.ts';
import { standInModels, streamedModels } from '@svc-asr/testing/speech/stand-in.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { requireEightBitModels } from '../engine/eight-bit-models.ts';
import { STAND_IN_BEAM } from '../engine/stand-in-beam.ts';
import { DEFAULT_LIMITS, Fleet } from '../service/fleet.ts';
import { measureLosses } from '../service/loss-campaign.ts';
import { MEASURED } from '../service/metrics.ts';
import { recognisersLost, recognisersReady } from '../service/recognisers.ts';

const CHILDREN = 2;

export const about =
  'kill -9 and SIGSTOP of recogniser processes under live streams: no stream loses a word';

/**
 * `kill-engine 20 beam`: 20 faults with an offline CTC model, a beam search and a language model. `kill-engine 20 streamed`: with
 * an offline CTC model that caches keys and values. `kill-engine 20 int8`: with the bundled weights in 8 bits.
 */
export async function run({ short, args, log }: CampaignOptions): Promise<CampaignResult> {
  const modelsDir = await otherModels(args);
  const fleet = await Fleet.start();
  try {
    const service = await fleet.launch({
      ...DEFAULT_LIMITS,
      ...MEASURED,
      ...(modelsDir === null ? {} : { MODELS_DIR: modelsDir }),
      ENGINE_CHILDREN: String(CHILDREN),
    });
    let strikes = 0;
    let victim: number | undefined;
    return await measureLosses({
      fleet,
      service,
      streams: short ? 8 : 40,
      faults: Number(args[0] ?? (short ? 2 : 200)),
      judgeLag: !short,
      ...(modelsDir === null ? {} : { texts: await textsOf(modelsDir) }),
      async strike(fault) {
        // The older one, so that both are struck in turn.
        victim = service.children()[0];
        if (victim === undefined) throw new Error('No recogniser is running.');
        strikes += 1;
        process.kill(victim, fault === 'kill' ? 'SIGKILL' : 'SIGSTOP');
      },
      whole: () => recognisersReady(service, CHILDREN, victim),
      falseFailovers: () => recognisersLost(service) - strikes,
      log,
    });
  } finally {
    await fleet.stop();
    if (modelsDir !== null) await rm(modelsDir, { recursive: true });
  }
}

async function otherModels(args: readonly string[]): Promise<string | null> {
  if (args.includes('beam')) return standInModels(STAND_IN_BEAM);
  if (args.includes('streamed')) return streamedModels();
  return args.includes('int8') ? requireEightBitModels() : null;
}

/** What these weights make of each sentence when nothing fails. */
async function textsOf(modelsDir: string): Promise<ReadonlyMap<string, string>> {
  const engine = await startSherpaEngine({ modelsDir, children: 1 });
  const texts = new Map<string, string>();
  try {
    for (const { name } of SPEECH) {
      const { model, pcm } = speech(name);
      const stream = await engine.open({ model, signal: new AbortController().signal });
      const writing = stream.write(pcm.slice());
      stream.flush();
      for await (const event of stream.events) {
        if (event.type !== 'final') continue;
        texts.set(name, event.text);
        break;
      }
      await writing;
      await stream.close();
    }
  } finally {
    await engine.close();
  }
  return texts;
}
