import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { request } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import { mapConcurrently } from '@svc-asr/eval/concurrency.ts';
import { makeCertificate } from '@svc-asr/testing/certificate.ts';
import type { CampaignOptions, CampaignResult } from '../../campaign.ts';
import { percentile } from '@svc-asr/eval/statistics.ts';
import { residentKib } from '../../engine/processor.ts';
import { numbers } from '../../service/concurrency.ts';
import { Fleet } from '../../service/fleet.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';

/** The largest file that is served without a key. */
const PATH = '/docs/search.json';
/** Requests that each client sends at once: the kernel's buffers hold about 4 MB, more than the file. */
const PIPELINED = 6;
const GROWN_MIB_MAX = 100;
const HONEST_P99_MAX_MS = 1_000;
/**
 * Stalled clients must be disconnected by then. A response that fits into the kernel's buffers ends
 * with the keep-alive.
 */
const SHED_WITHIN_MS = 90_000;
const HANDSHAKE_MAX_S = 15;

export const about =
  'TLS clients request the largest file many times and never read it: memory stays flat, others are served';

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const clients = short ? 300 : 2_000;
  const certificate = await makeCertificate();
  const fleet = await Fleet.start();
  try {
    const service = await fleet.launch({
      TLS_CERT_FILE: certificate.certFile,
      TLS_KEY_FILE: certificate.keyFile,
    });
    // The first request loads the file, and the first handshakes fill OpenSSL's caches.
    for (const _ of numbers(20)) await readWhole(service);
    const before = residentKib(service.pid);
    const handlesBefore = openHandles(service.pid);
    const handshake = silentHandshake(service);
    const stalled = await stall(service, clients, log);
    const honest = await measureHonest(service, short ? 100 : 500);
    const grown = Math.round((residentKib(service.pid) - before) / 1024);
    log(`${stalled.length} clients stalled, memory grown by ${grown} MiB`);
    const left = await leftOver(service, handlesBefore);
    for (const socket of stalled) socket.destroy();
    log(`${left} of them are still connected`);
    const figures = {
      clients,
      grown_mib: grown,
      honest_p99_ms: Math.round(percentile(honest.latencies, 0.99)),
      honest_failed: honest.failed,
      left,
      handshake_s: Math.round(await handshake),
    };
    const passed =
      grown < GROWN_MIB_MAX &&
      honest.failed === 0 &&
      figures.honest_p99_ms < HONEST_P99_MAX_MS &&
      left === 0 &&
      figures.handshake_s <= HANDSHAKE_MAX_S;
    return { passed, figures };
  } finally {
    await fleet.stop();
  }
}

/** Opens the connections, sends the requests on each and reads nothing. */
async function stall(
  service: ServiceProcess,
  clients: number,
  log: (line: string) => void,
): Promise<TLSSocket[]> {
  const { port } = new URL(service.url);
  const sockets: TLSSocket[] = [];
  await mapConcurrently(numbers(clients), 20, async (number) => {
    const socket = connect({ host: '127.0.0.1', port: Number(port), rejectUnauthorized: false });
    socket.on('error', () => socket.destroy());
    await Promise.race([once(socket, 'secureConnect'), once(socket, 'close')]);
    socket.pause();
    socket.write(`GET ${PATH} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(PIPELINED));
    sockets.push(socket);
    if (number % 500 === 499) log(`${number + 1} clients`);
  });
  return sockets;
}

/** Connects and never begins the TLS handshake. Returns after how many seconds the service closed the connection. */
async function silentHandshake(service: ServiceProcess): Promise<number> {
  const began = performance.now();
  const socket = connectTcp(Number(new URL(service.url).port), '127.0.0.1').resume();
  await once(socket, 'close');
  return (performance.now() - began) / 1_000;
}

/** Measures what a normal client sees meanwhile, on a new connection each time. */
async function measureHonest(
  service: ServiceProcess,
  count: number,
): Promise<{ latencies: number[]; failed: number }> {
  const latencies: number[] = [];
  let failed = 0;
  for (const _ of numbers(count)) {
    const began = performance.now();
    const status = await get(`${service.url}/v1/models`).catch(() => 0);
    latencies.push(performance.now() - began);
    // Models are rate limited per address: 429 is an answer too.
    if (status !== 200 && status !== 429) failed += 1;
  }
  return { latencies, failed };
}

function get(url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url, { rejectUnauthorized: false, agent: false }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    })
      .once('error', reject)
      .end();
  });
}

async function readWhole(service: ServiceProcess): Promise<void> {
  const status = await get(`${service.url}${PATH}`);
  if (status !== 200) throw new Error(`${PATH} returned ${status}.`);
}

/** Returns how many connections the service itself still holds after the deadline. */
async function leftOver(service: ServiceProcess, handlesBefore: number): Promise<number> {
  const deadlineMs = performance.now() + SHED_WITHIN_MS;
  const left = (): number => Math.max(0, openHandles(service.pid) - handlesBefore);
  while (left() > 0 && performance.now() < deadlineMs) await sleep(200);
  return left();
}

function openHandles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
