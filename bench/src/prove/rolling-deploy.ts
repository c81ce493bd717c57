import { setTimeout as sleep } from 'node:timers/promises';
import { makeCertificate } from '@svc-asr/testing/certificate.ts';
import { freePort } from '@svc-asr/local/free-port.ts';
import { startHaproxy } from '@svc-asr/testing/haproxy.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { numbers } from '../service/concurrency.ts';
import { keepAllCalling, type CallTally } from '../service/callers.ts';
import { Fleet } from '../service/fleet.ts';

/** Replaces two nodes behind the bundled load balancer, one after the other, under live streams. */
interface Tally extends CallTally {
  deploys: number;
  failed: number;
}

export const about = 'nodes replaced under live streams: no stream is interrupted or fails';

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const [deploys, callers, streamMs] = short ? [1, 3, 3_000] : [8, 12, 20_000];
  const [fleet, certificate] = await Promise.all([Fleet.start(), makeCertificate()]);
  const ports = [String(await freePort()), String(await freePort())];
  const publicPort = await freePort();
  const launch = (at: number) =>
    fleet.launch({
      PORT: ports[at] ?? '',
      NODE_ID: `node-${at + 1}`,
      PUBLIC_STREAM_URL: `wss://127.0.0.1:${publicPort}`,
      TRUSTED_PROXIES: '127.0.0.1',
    });
  const nodes = await Promise.all([launch(0), launch(1)]);
  const urls = nodes.map((node) => node.url);
  const proxy = await startHaproxy({
    certificate,
    port: publicPort,
    nodes: [urls[0] ?? '', urls[1] ?? ''],
  });
  const stopping = new AbortController();
  const tally: Tally = { deploys: 0, streams: 0, cut: 0, failed: 0, retries: 0 };
  try {
    const tenants = await fleet.addTenants(callers, 36_000_000);
    const calling = keepAllCalling(tenants, {
      api: urls,
      ca: certificate.cert,
      streamMs,
      tally,
      signal: stopping.signal,
    });
    await sleep(streamMs / 2);
    for (const deploy of numbers(deploys)) {
      const at = deploy % 2;
      await nodes[at]?.stop();
      nodes[at] = await launch(at);
      tally.deploys += 1;
      log(`${tally.deploys} nodes replaced: ${JSON.stringify(tally)}`);
      await sleep(short ? 500 : 3_000);
    }
    stopping.abort();
    await calling;
    tally.failed = await fleet.countFailedSessions();
    return { passed: tally.cut === 0 && tally.failed === 0, figures: { ...tally } };
  } finally {
    stopping.abort();
    await proxy.stop();
    await fleet.stop();
  }
}
