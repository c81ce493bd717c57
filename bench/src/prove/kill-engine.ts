import { rm } from 'node:fs/promises';
import { startSherpaEngine } from '@svc-asr/engine';
import { speech, SPEECH } from '@svc-asr/testing/speech/fixtures.ts';
import { standInModels } from '@svc-asr/testing/speech/stand-in.ts';
import type { Campaign, CampaignOptions, CampaignResult } from '../campaign.ts';
import { STAND_IN_BEAM } from '../engine/stand-in-beam.ts';
import { DEFAULT_LIMITS, Fleet } from '../service/fleet.ts';
import { measureLosses, MEASURED } from '../service/loss-campaign.ts';
import { recognisersLost, recognisersReady } from '../service/recognisers.ts';

const CHILDREN = 2;

export const campaign: Campaign = {
  about: 'kill -9 and SIGSTOP of recogniser processes under live streams: no stream loses a word',
  run,
};

/** `kill-engine 20 beam`: 20 faults with an offline CTC model, a beam search and a language model. */
async function run({ short, args, log }: CampaignOptions): Promise<CampaignResult> {
  const modelsDir = args.includes('beam') ? standInModels(STAND_IN_BEAM) : null;
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
