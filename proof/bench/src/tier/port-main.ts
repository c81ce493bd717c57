import { startRivaEngine, type TlsFiles } from '@svc-asr/engine';
import { ownCpuMs } from '@svc-asr/eval/statistics.ts';
import { LiveSpeaker, speakFor } from '../engine/live-speaker.ts';

import { distinctUtterance } from '../engine/utterances.ts';
import { answerOrders } from '../measured-process.ts';
import { scriptedRecogniser } from './scripted-recogniser.ts';

export interface PortOrder {
  /** Null: the scripted engine in this process. */
  readonly remote: { readonly addresses: string; readonly tls: TlsFiles } | null;
  readonly streams: number;
  readonly seconds: number;
}

export interface PortAnswer {
  readonly cpuMs: number;
  readonly audioS: number;
  readonly lagsMs: readonly number[];
}

/** Runs live speakers against an engine in their own process, so that its CPU time can be measured. */
answerOrders(run);

async function run({ remote, streams, seconds }: PortOrder): Promise<PortAnswer> {
  const engine = remote === null ? scriptedRecogniser() : await startRivaEngine(remote);
  const plans = Array.from({ length: streams }, (_, at) => distinctUtterance(at % 8, 4));
  const speakers = await Promise.all(plans.map((plan) => LiveSpeaker.open(engine, plan)));
  const cpuBeforeMs = ownCpuMs();
  await speakFor(speakers, seconds * 1000);
  const answer = {
    cpuMs: ownCpuMs() - cpuBeforeMs,
    audioS: speakers.reduce((sum, speaker) => sum + speaker.spokenS, 0),
    lagsMs: speakers.flatMap((speaker) => speaker.lagsMs),
  };
  for (const speaker of speakers) await speaker.close();
  await engine.close();
  return answer;
}
