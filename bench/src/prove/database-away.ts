import { setTimeout as sleep } from 'node:timers/promises';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { Call } from '../service/call.ts';
import { Fleet, usageOf, type Tenant } from '../service/fleet.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';

/** Stops the database under live streams. None is interrupted, every close is settled, and none fails afterwards. */
const MODEL = 'svc-asr-kikuyu-v1';

interface Talker {
  readonly tenant: Tenant;
  readonly call: Call;
  /** Stops talking. Returns false if the stream was cut. */
  hangUp(): Promise<boolean>;
}

export const about = 'PostgreSQL down for 5, 30 and 120 s under live streams: none is interrupted';

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const fleet = await Fleet.start({ isDurable: true });
  try {
    const service = await fleet.launch();
    const tally = {
      outages: 0,
      streams: 0,
      cut: 0,
      failed: 0,
      wrong_bills: 0,
      unsettled: 0,
      refused_503: 0,
    };
    for (const seconds of short ? [3] : [5, 30, 120]) {
      await outage({ fleet, service, seconds, streams: short ? 4 : 20, tally });
      log(`down for ${seconds} s: ${JSON.stringify(tally)}`);
    }
    const wrong = tally.cut + tally.failed + tally.wrong_bills + tally.unsettled;
    return { passed: wrong === 0 && tally.refused_503 > 0, figures: tally };
  } finally {
    await fleet.stop();
  }
}

async function outage(input: {
  fleet: Fleet;
  service: ServiceProcess;
  seconds: number;
  streams: number;
  tally: Record<
    'outages' | 'streams' | 'cut' | 'failed' | 'wrong_bills' | 'unsettled' | 'refused_503',
    number
  >;
}): Promise<void> {
  const { fleet, service, seconds, streams, tally } = input;
  const tenants = await fleet.addTenants(streams + 1, 600_000);
  const caller = tenants.pop();
  const talkers = await Promise.all(tenants.map((tenant) => talk(service, tenant)));
  tally.outages += 1;
  tally.streams += talkers.length;
  await fleet.postgres.stop('immediate');

  // Half of the streams end during the outage; the others continue.
  await sleep((seconds * 1000) / 2);
  const [ending, staying] = [talkers.slice(0, streams / 2), talkers.slice(streams / 2)];
  await hangUpAll(ending, tally);
  if (caller !== undefined && (await refusedWith503(service, caller))) tally.refused_503 += 1;
  await sleep((seconds * 1000) / 2);
  await fleet.restartDatabase();
  await hangUpAll(staying, tally);
  for (const talker of talkers) await checkBill(service, talker, tally);
}

async function talk(service: ServiceProcess, tenant: Tenant): Promise<Talker> {
  const call = await Call.open(service, tenant, { model: MODEL, max_audio_seconds: 300 });
  const { pcm } = speech('kikuyu-2');
  let isTalking = true;
  const talking = call.repeat(pcm, () => isTalking);
  const hangUp = async (): Promise<boolean> => {
    isTalking = false;
    await talking;
    return call.hangUp();
  };
  return { tenant, call, hangUp };
}

async function hangUpAll(talkers: readonly Talker[], tally: { cut: number }): Promise<void> {
  const ended = await Promise.all(talkers.map((talker) => talker.hangUp()));
  tally.cut += ended.filter((asAsked) => !asAsked).length;
}

async function refusedWith503(service: ServiceProcess, tenant: Tenant): Promise<boolean> {
  const response = await fetch(`${service.url}/v1/asr/sessions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${tenant.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL }),
  });
  return response.status === 503 && response.headers.has('retry-after');
}

async function checkBill(
  service: ServiceProcess,
  talker: Talker,
  tally: { failed: number; wrong_bills: number; unsettled: number },
): Promise<void> {
  const usage = await usageOf(service.url, talker.tenant).catch(() => null);
  if (usage === null) tally.unsettled += 1;
  else if (usage.recent_sessions[0]?.status === 'failed') tally.failed += 1;
  else if (usage.consumed_ms !== talker.call.billedMs) tally.wrong_bills += 1;
}
