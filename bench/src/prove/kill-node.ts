import { setTimeout as sleep } from 'node:timers/promises';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { percentile } from '@svc-asr/eval/statistics.ts';
import { numbers } from '../service/concurrency.ts';
import { createSession, Fleet, reserveSession, usageOf, type Tenant } from '../service/fleet.ts';
import { launchAt } from '../service/placed-node.ts';
import { openStream } from '../service/open-stream.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';

/** Kills a streaming node. Nothing is charged, and its accounts can start new sessions within eight seconds. */
const MODEL = 'svc-asr-kikuyu-v1';
const USABLE_MS = 8_000;
const STREAMS_PER_NODE = 2;

export const about =
  'kill -9 of streaming nodes: nothing is charged and accounts are usable again within 8 s';

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const [rounds, nodesARound] = short ? [1, 1] : [20, 10];
  const fleet = await Fleet.start();
  try {
    const api = await fleet.launch({ ROLE: 'api', NODE_ID: 'api' });
    // A node for the next session.
    await launchAt(fleet, { ROLE: 'node', NODE_ID: 'survivor' });
    if (!short) await quietIsOver(fleet);
    const usableMs: number[] = [];
    const tally = { kills: 0, streams: 0, charged_ms: 0, not_failed: 0 };
    for (const round of numbers(rounds)) {
      const nodes = await Promise.all(
        numbers(nodesARound).map((at) =>
          launchAt(fleet, { ROLE: 'node', NODE_ID: `round-${round}-${at}` }),
        ),
      );
      const tenants = await fleet.addTenants(nodesARound * STREAMS_PER_NODE, 600_000);
      const streams = await Promise.all(
        tenants.map((tenant, at) => streamOn({ api, tenant, node: nodes[at % nodes.length] })),
      );
      tally.streams += streams.length;
      await Promise.all(
        nodes.map(async (node) => {
          await sleep(Math.random() * 2_000);
          node.kill('SIGKILL');
          await node.exited;
          tally.kills += 1;
          // In the short form it restarts with the same id, like under a supervisor, so that no lease has to expire.
          if (short) await launchAt(fleet, { ROLE: 'node', NODE_ID: `round-${round}-0` });
          const sinceMs = performance.now();
          const mine = streams.filter((stream) => stream.node === node);
          const waits = mine.map((stream) => usableAgain(api, stream.tenant, sinceMs));
          usableMs.push(...(await Promise.all(waits)));
        }),
      );
      for (const { tenant } of streams) {
        const usage = await usageOf(api.url, tenant);
        tally.charged_ms += usage.consumed_ms;
        tally.not_failed += usage.recent_sessions.at(-1)?.status === 'failed' ? 0 : 1;
      }
      log(
        `${tally.kills} nodes killed, usable again p99 ${percentile(usableMs, 0.99).toFixed(0)} ms`,
      );
    }
    const figures = {
      ...tally,
      usable_p50_ms: Math.round(percentile(usableMs, 0.5)),
      usable_p99_ms: Math.round(percentile(usableMs, 0.99)),
    };
    const passed =
      figures.usable_p99_ms <= USABLE_MS && tally.charged_ms === 0 && tally.not_failed === 0;
    return { passed, figures };
  } finally {
    await fleet.stop();
  }
}

/** Waits until expired leases count, because they are ignored after a database start. */
async function quietIsOver(fleet: Fleet): Promise<void> {
  for (;;) {
    const { rowCount } = await fleet.pool.query(
      `select from sweeper_watch where last_tick_at > clock_timestamp() - interval '2 s'
        and quiet_until < clock_timestamp()`,
    );
    if (rowCount === 1) return;
    await sleep(100);
  }
}

async function streamOn(input: {
  api: ServiceProcess;
  tenant: Tenant;
  node: ServiceProcess | undefined;
}) {
  const { api, tenant, node } = input;
  const session = await reserveSession(api.url, tenant, { model: MODEL, max_audio_seconds: 60 });
  if (node === undefined) throw new Error('There is no node.');
  const client = await openStream(node.streamUrl, session);
  client.send(speech('kikuyu-1').pcm.subarray(0, 64_000));
  await client.next('delta');
  return { tenant, node, client };
}

async function usableAgain(api: ServiceProcess, tenant: Tenant, sinceMs: number): Promise<number> {
  for (;;) {
    const session = await createSession(api.url, tenant, { model: MODEL, max_audio_seconds: 1 });
    if (session !== null) return performance.now() - sinceMs;
    await sleep(50);
  }
}
