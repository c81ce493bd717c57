import { setTimeout as pass } from 'node:timers/promises';
import { speech } from '@svc-asr/engine/test/speech.ts';
import type { StreamClient } from '@svc-asr/server/test/stream-client.ts';
import type { Campaign, CampaignOptions, CampaignResult } from '../campaign.ts';
import { percentile } from '../engine/percentile.ts';
import { inParallel, numbers } from '../service/crew.ts';
import { reserveSession, Fleet, usageOf, type Tenant } from '../service/fleet.ts';
import { openStream } from '../service/open-stream.ts';
import type { ServiceProcess } from '../service/service-process.ts';

/** A recogniser's process dies or freezes: its clients are told within 3 s and pay nothing, the others notice nothing. */
const MODEL = 'svc-asr-kikuyu-v1';
const TOLD_MS = 3_000;
const STREAMS = 4;

interface Tally {
  kills: number;
  told: number;
  undisturbed: number;
  disturbed: number;
  charged_ms: number;
}

export const campaign: Campaign = {
  about: 'kill -9 and SIGSTOP of engine processes: clients told within 3 s, nothing charged',
  run,
};

async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const [kills, services] = short ? [2, 1] : [200, 2];
  const fleet = await Fleet.start();
  try {
    const running = await Promise.all(
      numbers(services).map(() => fleet.launch({ ENGINE_CHILDREN: '2' })),
    );
    const tally: Tally = { kills: 0, told: 0, undisturbed: 0, disturbed: 0, charged_ms: 0 };
    const toldMs: number[] = [];
    await inParallel(running, services, async (service) => {
      for (const turn of numbers(kills / services)) {
        const signal = turn % 2 === 0 ? 'SIGKILL' : 'SIGSTOP';
        toldMs.push(...(await strike({ fleet, service, signal, tally })));
        if (tally.kills % 20 === 0)
          log(`${tally.kills} kills, told p99 ${percentile(toldMs, 0.99).toFixed(0)} ms`);
      }
    });
    const figures = { ...tally, told_max_ms: Math.round(Math.max(...toldMs)) };
    const passed =
      figures.told_max_ms <= TOLD_MS &&
      tally.charged_ms === 0 &&
      tally.disturbed === 0 &&
      tally.told > 0;
    return { passed, figures };
  } finally {
    await fleet.stop();
  }
}

/** How long each stream of the struck process waited to be told. */
async function strike(input: {
  fleet: Fleet;
  service: ServiceProcess;
  signal: NodeJS.Signals;
  tally: Tally;
}): Promise<number[]> {
  const { fleet, service, signal, tally } = input;
  const victims = await twoChildren(service);
  const tenants = await fleet.addTenants(STREAMS, 60_000);
  const streams = await Promise.all(tenants.map((tenant) => talk(service, tenant)));
  const victim = victims[tally.kills % victims.length] ?? 0;
  process.kill(victim, signal);
  const struckAtMs = performance.now();
  tally.kills += 1;
  const waits = await Promise.all(
    streams.map(({ client }) =>
      Promise.race([toldAfter(client, struckAtMs), pass(TOLD_MS + 500, null)]),
    ),
  );
  for (const [at, { client, tenant, stop }] of streams.entries()) {
    const wait = waits[at] ?? null;
    if (wait === null) await checkUndisturbed(client, tally);
    stop();
    await client.close();
    const usage = await usageOf(service.url, tenant);
    if (wait !== null) tally.charged_ms += usage.consumed_ms;
  }
  const told = waits.filter((wait) => wait !== null);
  tally.told += told.length;
  return told;
}

/** Both of its recognisers are there again. */
async function twoChildren(service: ServiceProcess): Promise<number[]> {
  for (;;) {
    const ready = service.lines.filter((line) => line.includes('"child_ready"')).length;
    const gone = service.lines.filter((line) => line.includes('"child_gone"')).length;
    const children = service.children();
    if (ready - gone === 2 && children.length === 2) return children;
    await pass(20);
  }
}

/** Speaks half-second pieces and asks for a final after each, until it is stopped. */
async function talk(service: ServiceProcess, tenant: Tenant) {
  const session = await reserveSession(service.url, tenant, {
    model: MODEL,
    max_audio_seconds: 60,
  });
  const client = await openStream(service.streamUrl, session);
  const pcm = speech('kikuyu-1').pcm.subarray(0, 16_000);
  const timer = setInterval(() => {
    if (client.socket.readyState === client.socket.OPEN) client.send(pcm).say({ type: 'flush' });
  }, 500);
  client.send(pcm).say({ type: 'flush' });
  await client.next('final');
  return { client, tenant, stop: () => clearInterval(timer) };
}

async function toldAfter(client: StreamClient, sinceMs: number): Promise<number> {
  await client.error('internal_error').catch(() => null);
  return performance.now() - sinceMs;
}

async function checkUndisturbed(client: StreamClient, tally: Tally): Promise<void> {
  const before = client.ofType('final').length;
  const came = await Promise.race([client.next('final', before + 1), pass(3_000, null)]);
  if (came === null) tally.disturbed += 1;
  else tally.undisturbed += 1;
}
