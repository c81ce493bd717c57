import { setTimeout as sleep } from 'node:timers/promises';
import { startDatabaseProxy } from '@svc-asr/testing/postgres/database-proxy.ts';
import { speech, type StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { Fleet } from '../service/fleet.ts';
import { Call } from '../service/call.ts';

/** The database stalls, the process gets SIGTERM, clients close, the database returns. No settlement may be lost. */
export const about =
  'SIGTERM while the database stalls: every settlement is written when it returns';

const STALLS_MS = { short: [5_000], full: [2_000, 5_000, 10_000] };
const STREAMS = { short: 8, full: 40 };
const BILLED_MS = 1_000;

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const size = short ? 'short' : 'full';
  const fleet = await Fleet.start();
  const figures = { streams: 0, lost: 0 };
  try {
    for (const stallMs of STALLS_MS[size]) {
      const lost = await stopDuringStall({ fleet, stallMs, streams: STREAMS[size] });
      figures.streams += STREAMS[size];
      figures.lost += lost;
      log(`stalled for ${stallMs} ms: ${lost} of ${STREAMS[size]} settlements lost`);
    }
    return { passed: figures.lost === 0, figures };
  } finally {
    await fleet.stop();
  }
}

async function stopDuringStall(input: {
  fleet: Fleet;
  stallMs: number;
  streams: number;
}): Promise<number> {
  const { fleet, stallMs, streams } = input;
  const proxy = await startDatabaseProxy(fleet.postgres.url);
  try {
    const service = await fleet.launch({ DATABASE_URL: proxy.url });
    const tenants = await fleet.addTenants(streams, 60_000);
    const clients: StreamClient[] = [];
    for (const tenant of tenants) {
      const body = { model: 'svc-asr-kikuyu-v1', max_audio_seconds: 10 } as const;
      const { client } = await Call.open(service, tenant, body);
      await client.send(speech({ ms: BILLED_MS })).flush();
      clients.push(client);
    }
    proxy.set('silent');
    service.kill('SIGTERM');
    const returned = sleep(stallMs).then(() => proxy.set('open'));
    // Close all streams at once after the drain has begun, so that all first attempts are in flight together.
    await Promise.all(clients.map((client) => client.status('draining')));
    const closes = await Promise.all(clients.map((client) => client.close()));
    if (closes.some(({ code }) => code !== 1000)) throw new Error('A stream was interrupted.');
    await returned;
    await service.exited;
    const { rows } = await fleet.pool.query<{ settled: number }>(
      `select count(*)::int as settled from sessions
        where status = 'completed' and billable_ms = $1 and account_id = any($2::uuid[])`,
      [BILLED_MS, tenants.map(({ accountId }) => accountId)],
    );
    return streams - (rows[0]?.settled ?? 0);
  } finally {
    await proxy.close();
  }
}
