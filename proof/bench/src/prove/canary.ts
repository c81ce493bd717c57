import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { framed, refused } from '@svc-asr/testing/service/stream-client.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { numbers } from '../service/concurrency.ts';
import { Fleet, type Tenant } from '../service/fleet.ts';
import { Call } from '../service/call.ts';
import { MEASURED } from '../service/metrics.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';

/** Searches everything the service may have written for secrets, audio and words. */
export const about =
  'searches logs, disk, database and metrics for keys, credentials, audio and words: finds none';

interface Secret {
  readonly kind: 'api_key' | 'credential' | 'audio' | 'words';
  readonly bytes: Buffer;
}

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-canary-'));
  const fleet = await Fleet.start({ isDurable: true });
  try {
    // Temporary files are written to a folder that we search.
    const env = { LOG_LEVEL: 'trace', ...MEASURED, TMPDIR: folder };
    const service = await fleet.launch(env);
    const secrets: Secret[] = [];
    for (const tenant of await fleet.addTenants(short ? 4 : 100, 600_000)) {
      secrets.push(...(await useEverything(service, tenant)));
    }
    const metrics = await fetch(`${service.url}/metrics`, {
      headers: { authorization: `Bearer ${MEASURED.METRICS_TOKEN}` },
    });
    const places = new Map([
      ['log', Buffer.from(service.lines.join('\n'))],
      ['metrics', Buffer.from(await metrics.text())],
    ]);
    await fleet.pool.query('checkpoint');
    for (const searched of [folder, fleet.postgres.dataDir]) {
      for (const path of await filesUnder(searched))
        places.set(path, await readFile(path).catch(() => Buffer.alloc(0)));
    }
    const found = search(secrets, places, log);
    // Check that the search works: it must find data that may be stored.
    const isBlind = !places.get('log')?.includes('stream ended');
    const bytes = [...places.values()].reduce((sum, place) => sum + place.byteLength, 0);
    const figures = {
      secrets: secrets.length,
      places: places.size,
      searched_mib: bytes >> 20,
      found,
    };
    return { passed: found === 0 && !isBlind, figures };
  } finally {
    await fleet.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs a session with every kind of message, a replay and a violation. */
async function useEverything(service: ServiceProcess, tenant: Tenant): Promise<Secret[]> {
  const { model, pcm } = speech('kikuyu-2');
  const { client, session } = await Call.open(service, tenant, { model, max_audio_seconds: 30 });
  client.say({ type: 'config', language: 'ki' });
  for (const frame of framed(pcm)) client.send(frame);
  const { text } = await client.flush();
  await refused(service.streamUrl, session.websocket_protocols);
  client.say('{"type":"nonsense"}').send(Buffer.alloc(70_000, 1));
  await client.closed;
  const audio = Buffer.from(pcm.subarray(32_000, 32_064));
  const words = text.split(' ').filter((word) => word.length > 5);
  return [
    { kind: 'api_key', bytes: Buffer.from(tenant.apiKey.slice(12)) },
    { kind: 'credential', bytes: Buffer.from(session.websocket_protocols[1].slice(9)) },
    ...[audio, Buffer.from(audio.toString('base64')), Buffer.from(audio.toString('hex'))].map(
      (bytes): Secret => ({ kind: 'audio', bytes }),
    ),
    ...words.map((word): Secret => ({ kind: 'words', bytes: Buffer.from(word) })),
  ];
}

async function filesUnder(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true });
  const paths = entries.map((entry) => join(folder, entry));
  const kinds = await Promise.all(paths.map((path) => stat(path).catch(() => null)));
  return paths.filter((_, at) => kinds[at]?.isFile());
}

function search(
  secrets: readonly Secret[],
  places: ReadonlyMap<string, Buffer>,
  log: (line: string) => void,
): number {
  const distinct = new Map(secrets.map((secret) => [secret.bytes.toString('latin1'), secret]));
  let found = 0;
  for (const { kind, bytes } of distinct.values()) {
    for (const [place, content] of places) {
      if (!content.includes(bytes)) continue;
      found += 1;
      if (numbers(5).includes(found)) log(`found: ${kind} in ${place}`);
    }
  }
  return found;
}
