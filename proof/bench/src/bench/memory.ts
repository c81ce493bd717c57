import { setTimeout as sleep } from 'node:timers/promises';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { residentKib } from '../engine/processor.ts';
import { distinctUtterance } from '../engine/utterances.ts';
import { Fleet } from '../service/fleet.ts';
import { INSPECTED, liveMemory } from '../service/live-memory.ts';
import { startLoad, type Load } from '../service/load.ts';
import { MEASURED, metric } from '../service/metrics.ts';
import { openSessions } from '../service/sessions.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';

const STREAMS = 80;
const STREAMS_SHORT = 8;
/** Every stream speaks by then, and none has finished. */
const SPOKEN_MS = 12_000;

export const about =
  'memory of a gateway and a recogniser: of each process, and of a live stream by owner';

interface Snapshot {
  readonly gatewayKib: number;
  readonly recogniserKib: number;
  readonly heapKib: number;
  readonly buffersKib: number;
  /** Audio kept for a lost recogniser, a part of the buffers. */
  readonly replayKib: number;
}

export async function run({ short }: CampaignOptions): Promise<CampaignResult> {
  const [fleet, load] = await Promise.all([Fleet.start(), startLoad()]);
  try {
    const service = await fleet.launch({
      ...INSPECTED,
      ...MEASURED,
      ENGINE_SLOTS_PER_CHILD: '500',
    });
    const streams = short ? STREAMS_SHORT : STREAMS;
    await speak({ fleet, load, service, streams: STREAMS_SHORT, speed: 0 });
    const without = await look(service);
    const speaking = speak({ fleet, load, service, streams, speed: 1 });
    await sleep(SPOKEN_MS);
    const during = await look(service);
    await speaking;
    const perStream = (name: keyof Snapshot): number =>
      Math.round((during[name] - without[name]) / streams);
    const figures = {
      streams,
      gateway_mib: Math.round(without.gatewayKib / 1024),
      gateway_live_mib: Math.round(during.gatewayKib / 1024),
      gateway_kib_per_stream: perStream('gatewayKib'),
      heap_kib_per_stream: perStream('heapKib'),
      buffers_kib_per_stream: perStream('buffersKib'),
      replay_kib_per_stream: perStream('replayKib'),
      recogniser_mib: Math.round(without.recogniserKib / 1024),
      recogniser_live_mib: Math.round(during.recogniserKib / 1024),
      recogniser_kib_per_stream: perStream('recogniserKib'),
    };
    return { passed: during.replayKib > 0, figures };
  } finally {
    await fleet.stop();
    await load.stop();
  }
}

async function speak(input: {
  fleet: Fleet;
  load: Load;
  service: ServiceProcess;
  streams: number;
  speed: number;
}): Promise<void> {
  const { load, service, streams, speed } = input;
  const plans = Array.from({ length: streams }, (_, at) => distinctUtterance(at * 7, 6));
  const sessions = await openSessions(input, plans);
  const url = service.streamUrl;
  const { broken } = await load.run({ url, protocol: 'ours', sessions, plans, speed });
  if (broken > 0) throw new Error(`${broken} streams broke.`);
}

async function look(service: ServiceProcess): Promise<Snapshot> {
  const live = await liveMemory(service);
  return {
    ...live,
    replayKib: (await metric(service, 'svc_engine_replay_bytes')) / 1024,
    gatewayKib: residentKib(service.pid),
    recogniserKib: residentKib(...service.children()),
  };
}
