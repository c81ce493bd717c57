import { setTimeout as pass } from 'node:timers/promises';
import { speech } from '@svc-asr/engine/test/speech.ts';
import type { AsrSession } from '@svc-asr/protocol';
import { makeCertificate } from '@svc-asr/server/test/certificate.ts';
import { freePort } from '@svc-asr/server/free-port.ts';
import { startHaproxy } from '@svc-asr/server/test/haproxy.ts';
import { StreamClient } from '@svc-asr/server/test/stream-client.ts';
import type { Campaign, CampaignOptions, CampaignResult } from '../campaign.ts';
import { numbers } from '../service/crew.ts';
import { createSession, Fleet, type Tenant } from '../service/fleet.ts';

/** Two nodes behind the balancer that ships are replaced one after the other while people speak. */
const MODEL = 'svc-asr-kikuyu-v1';

interface Tally {
  deploys: number;
  streams: number;
  cut: number;
  failed: number;
  retries: number;
}

export const campaign: Campaign = {
  about: 'nodes replaced under running streams: none cut, none failed',
  run,
};

async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const [deploys, callers, streamMs] = short ? [1, 3, 3_000] : [8, 12, 20_000];
  const [fleet, certificate] = await Promise.all([Fleet.start(), makeCertificate()]);
  const ports = [String(await freePort()), String(await freePort())];
  const publicPort = await freePort();
  const launch = (at: number) =>
    fleet.launch({
      PORT: ports[at] ?? '',
      NODE_ID: `node-${at + 1}`,
      PUBLIC_STREAM_URL: `wss://127.0.0.1:${publicPort}`,
      TRUSTED_PROXIES: '1',
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
    const calling = tenants.map((tenant) =>
      keepCalling({
        tenant,
        api: urls,
        ca: certificate.cert,
        streamMs,
        tally,
        signal: stopping.signal,
      }),
    );
    await pass(streamMs / 2);
    for (const deploy of numbers(deploys)) {
      const at = deploy % 2;
      await nodes[at]?.stop();
      nodes[at] = await launch(at);
      tally.deploys += 1;
      log(`${tally.deploys} nodes replaced: ${JSON.stringify(tally)}`);
      await pass(short ? 500 : 3_000);
    }
    stopping.abort();
    await Promise.all(calling);
    const { rows } = await fleet.pool.query<{ failed: number }>(
      `select count(*) as failed from sessions where status = 'failed'`,
    );
    tally.failed = rows[0]?.failed ?? -1;
    return { passed: tally.cut === 0 && tally.failed === 0, figures: { ...tally } };
  } finally {
    stopping.abort();
    await proxy.stop();
    await fleet.stop();
  }
}

/** One caller after another speech, until the deploys are over. */
async function keepCalling(input: {
  tenant: Tenant;
  api: readonly string[];
  ca: Buffer;
  streamMs: number;
  tally: Tally;
  signal: AbortSignal;
}): Promise<void> {
  const { tally, signal, streamMs } = input;
  const { pcm } = speech('kikuyu-2');
  while (!signal.aborted) {
    const session = await reserve(input);
    const client = await open(session, input);
    tally.streams += 1;
    const untilMs = performance.now() + streamMs * (0.5 + Math.random());
    let sent = 0;
    while (performance.now() < untilMs && client.socket.readyState === client.socket.OPEN) {
      client.send(pcm.subarray(0, 6_400));
      sent += 200;
      await pass(200);
    }
    const final = await client.flush().catch(() => null);
    const { code } = await client.close();
    if (code !== 1000 || final?.total_audio_ms !== sent) tally.cut += 1;
  }
}

/** As the contract says: 503 is tried again, here at whichever process answers. */
async function reserve(input: {
  tenant: Tenant;
  api: readonly string[];
  tally: Tally;
}): Promise<AsrSession> {
  for (let attempt = 0; ; attempt += 1) {
    const url = input.api[attempt % input.api.length] ?? '';
    const body = { model: MODEL, max_audio_seconds: 60 } as const;
    const session = await createSession(url, input.tenant, body).catch(() => null);
    if (session !== null) return session;
    input.tally.retries += 1;
    await pass(200);
  }
}

/** A node that drains does not spend the credential: the same one opens the next try. */
async function open(
  session: AsrSession,
  input: { ca: Buffer; tally: Tally },
): Promise<StreamClient> {
  for (;;) {
    const client = await StreamClient.ready(session, { ca: input.ca }).catch(() => null);
    if (client !== null) return client;
    input.tally.retries += 1;
    await pass(200);
  }
}
