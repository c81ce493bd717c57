import { createScriptedEngine, startRivaEngine, type Engine, type TlsFiles } from '@svc-asr/engine';
import { LiveSpeaker } from '../engine/live-speaker.ts';
import { ownCpuMs } from '../engine/processor.ts';
import { distinctUtterance } from '../engine/utterances.ts';

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

const TICK_MS = 5;

/** Runs live speakers against an engine in their own process, so that its CPU time can be measured. */
process.on('message', (order: PortOrder) => void run(order));
process.on('disconnect', () => process.exit(0));
process.send?.('ready');

async function run(order: PortOrder): Promise<void> {
  const engine = await start(order);
  const plans = Array.from({ length: order.streams }, (_, at) => distinctUtterance(at % 8, 4));
  const speakers = await Promise.all(plans.map((plan) => LiveSpeaker.open(engine, plan)));
  const untilMs = performance.now() + order.seconds * 1000;
  const cpuBeforeMs = ownCpuMs();
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const nowMs = performance.now();
      for (const speaker of speakers) speaker.speak(nowMs);
      if (nowMs < untilMs) return;
      clearInterval(timer);
      resolve();
    }, TICK_MS);
  });
  const answer: PortAnswer = {
    cpuMs: ownCpuMs() - cpuBeforeMs,
    audioS: speakers.reduce((sum, speaker) => sum + speaker.spokenS, 0),
    lagsMs: speakers.flatMap((speaker) => speaker.lagsMs),
  };
  for (const speaker of speakers) await speaker.close();
  await engine.close();
  process.send?.(answer);
}

async function start({ remote }: PortOrder): Promise<Engine> {
  const words = Array.from({ length: 40 }, () => 'mũndũ').join(' ');
  return remote === null
    ? createScriptedEngine({ script: { texts: [words] }, capacity: 10_000 })
    : startRivaEngine(remote);
}
