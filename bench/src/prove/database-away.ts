import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import type { StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import type { Campaign, CampaignOptions, CampaignResult } from '../campaign.ts';
import { reserveSession, Fleet, usageOf, type Tenant } from '../service/fleet.ts';
import { openStream } from '../service/open-stream.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';

/** Stops the database under live streams. None is interrupted, every close is settled, and none fails afterwards. */
const MODEL = 'svc-asr-kikuyu-v1';
const PIECE_BYTES = 16_000;
const PIECE_MS = 500;

interface Talker {
  readonly tenant: Tenant;
  readonly client: StreamClient;
  sentMs: number;
  readonly timer: NodeJS.Timeout;
}

export const campaign: Campaign = {
  about: 'PostgreSQL down for 5, 30 and 120 s under live streams: none is interrupted',
  run,
};

async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-away-'));
  const fleet = await Fleet.start({ dataDir });
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
    await rm(dataDir, { recursive: true, force: true });
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
  await Promise.all(ending.map((talker) => hangUp(talker, tally)));
  if (caller !== undefined && (await refusedWith503(service, caller))) tally.refused_503 += 1;
  await sleep((seconds * 1000) / 2);
  await fleet.restartDatabase();
  await Promise.all(staying.map((talker) => hangUp(talker, tally)));
  for (const talker of talkers) await checkBill(service, talker, tally);
}

async function talk(service: ServiceProcess, tenant: Tenant): Promise<Talker> {
  const session = await reserveSession(service.url, tenant, {
    model: MODEL,
    max_audio_seconds: 300,
  });
  const client = await openStream(service.streamUrl, session);
  const { pcm } = speech('kikuyu-2');
  const talker: Talker = {
    tenant,
    client,
    sentMs: 0,
    timer: setInterval(() => {
      client.send(pcm.subarray(0, PIECE_BYTES));
      talker.sentMs += PIECE_MS;
    }, PIECE_MS),
  };
  return talker;
}

/** Expects a last final and then the close that the client requested. */
async function hangUp(talker: Talker, tally: { cut: number }): Promise<void> {
  clearInterval(talker.timer);
  const final = await talker.client.flush().catch(() => null);
  const { code } = await talker.client.close();
  if (final?.total_audio_ms !== talker.sentMs || code !== 1000) tally.cut += 1;
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
  else if (usage.consumed_ms !== Math.ceil(talker.sentMs / 1000) * 1000) tally.wrong_bills += 1;
}
