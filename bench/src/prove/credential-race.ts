import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { mapConcurrently } from '@svc-asr/eval/concurrency.ts';
import type { AsrSession } from '@svc-asr/protocol';
import { WebSocket } from 'ws';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { numbers } from '../service/concurrency.ts';
import { reserveSession, Fleet, type Tenant } from '../service/fleet.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';

/** Four upgrades on two nodes race for each credential. Exactly one may succeed. */
const RACERS = 4;
const BUSY = new Set(['service_unavailable', 'internal_error', 'capacity_exceeded']);
const TRIES_MAX = 200;

export const about = 'four upgrades on two nodes race for each credential: exactly one succeeds';

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const credentials = short ? 100 : 10_000;
  const accounts = short ? 10 : 40;
  const fleet = await Fleet.start();
  try {
    const nodes = [await fleet.launch(), await fleet.launch()];
    const tenants = await fleet.addTenants(accounts, 3_600_000);
    const tally = { attempts: 0, winners: 0, races: 0, wrong: 0 };
    await mapConcurrently(tenants, accounts, async (tenant) => {
      for (const _ of numbers(credentials / accounts)) {
        await race({ nodes, tenant, tally });
        if (tally.races % (credentials / 10) === 0) {
          log(`${tally.races} of ${credentials} credentials, ${tally.winners} winners`);
        }
      }
    });
    const { rows } = await fleet.pool.query<{ claims: number }>(
      'select count(*) as claims from claim_log',
    );
    const figures = { ...tally, claims: rows[0]?.claims ?? -1 };
    const passed =
      tally.winners === credentials && tally.wrong === 0 && figures.claims === credentials;
    return { passed, figures };
  } finally {
    await fleet.stop();
  }
}

interface Race {
  readonly nodes: readonly ServiceProcess[];
  readonly tenant: Tenant;
  readonly tally: { attempts: number; winners: number; races: number; wrong: number };
}

async function race({ nodes, tenant, tally }: Race): Promise<void> {
  const url = nodes[tally.races % nodes.length]?.url ?? '';
  const session = await reserveSession(url, tenant, {
    model: 'svc-asr-kikuyu-v1',
    max_audio_seconds: 1,
  });
  const racers = numbers(RACERS).map((at) => attempt(nodes[at % nodes.length], session));
  const outcomes = await Promise.all(racers);
  const winners = outcomes.filter((outcome) => outcome instanceof WebSocket);
  tally.attempts += RACERS;
  tally.winners += winners.length;
  tally.races += 1;
  // The others must get the error that the credential was used.
  tally.wrong += outcomes.filter(
    (one) => !(one instanceof WebSocket) && one !== 'session_credential_used',
  ).length;
  await Promise.all(winners.map((socket) => closed(socket)));
}

/** Retries after a 503, which does not spend the credential. */
async function attempt(
  node: ServiceProcess | undefined,
  session: AsrSession,
): Promise<WebSocket | string> {
  for (let tries = 0; ; tries += 1) {
    const outcome = await attemptOnce(node, session);
    if (outcome instanceof WebSocket || !BUSY.has(outcome) || tries === TRIES_MAX) return outcome;
    await sleep(100);
  }
}

function attemptOnce(
  node: ServiceProcess | undefined,
  session: AsrSession,
): Promise<WebSocket | string> {
  return new Promise((resolve) => {
    const socket = new WebSocket(node?.streamUrl ?? '', [...session.websocket_protocols]);
    socket.once('open', () => resolve(socket));
    socket.once('error', (error) => resolve(error.message));
    socket.once('unexpected-response', (_request, response) => {
      resolve(errorCode(response));
    });
  });
}

async function errorCode(response: IncomingMessage): Promise<string> {
  const answer: { error: { code: string } } = JSON.parse(await text(response));
  return answer.error.code;
}

async function closed(socket: WebSocket): Promise<void> {
  const ended = once(socket, 'close');
  socket.close(1000);
  await ended;
}
