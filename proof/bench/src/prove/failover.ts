import { setTimeout as sleep } from 'node:timers/promises';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { SvcClient } from '@svc-asr/sdk';
import { openStream, type SvcStream, type Transcript } from '@svc-asr/sdk/stream';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { compareWords } from '../engine/word-errors.ts';
import {
  createSession,
  DEFAULT_LIMITS,
  Fleet,
  reserveSession,
  usageOf,
  type Tenant,
} from '../service/fleet.ts';
import { openStream as openSocket } from '../service/open-stream.ts';
import { launchAt } from '../service/placed-node.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';

/**
 * Kills a node repeatedly under one SDK stream. The transcript must equal that of an undisturbed stream. Then kills nodes that
 * nobody restarts. Their streams cost nothing, and their accounts can start new sessions soon.
 */
const MODEL = 'svc-asr-kikuyu-v1';
const NODE = { ...DEFAULT_LIMITS, ROLE: 'node', NODE_ID: 'the-one' };
const SENTENCES = ['kikuyu-1', 'kikuyu-2', 'kikuyu-3', 'kikuyu-4'];
const CREDIT_MS = 3_600_000;
/** A lease, and the sweep after it. */
const USABLE_MS = 8_000;
const PIECE_BYTES = 6_400;
/** Ten times real time, so that a kill hits the middle of a stream. */
const PIECE_MS = 20;

export const about =
  'a node killed ten times under one SDK stream: the transcript is complete; accounts of dead nodes are usable within 8 s';

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const kills = short ? 2 : 10;
  const fleet = await Fleet.start();
  try {
    const api = await fleet.launch({ ...DEFAULT_LIMITS, ROLE: 'api', NODE_ID: 'api' });
    const node = new MortalNode(fleet, await launchAt(fleet, NODE));
    const [quiet, disturbed] = await fleet.addTenants(2, CREDIT_MS);
    if (quiet === undefined || disturbed === undefined) throw new Error('No accounts.');
    const utterances = Math.max(kills, SENTENCES.length);
    const undisturbed = await dictate(streamOf(api, quiet), utterances, async () => {});
    log(`undisturbed: ${undisturbed.words.length} words`);
    const stream = streamOf(api, disturbed);
    stream.on('reconnecting', ({ close, waitMs }) => {
      log(`${close.code} ${close.reason}, next session in ${Math.round(waitMs)} ms`);
    });
    const stitched = await dictate(stream, utterances, async (utterance, firstDelta) => {
      if (utterance >= kills) return;
      await firstDelta;
      await node.die();
      log(`${node.deaths} of ${kills} killed`);
    });
    const money = await chargesOf(api, disturbed);
    const lost = await loseNodes(fleet, api, short ? 1 : 10);
    const figures = {
      kills: node.deaths,
      sessions: stitched.sessions.length,
      words: undisturbed.words.length,
      ...compare(undisturbed, stitched),
      ...money,
      ...lost,
    };
    const passed =
      stitched.text === undisturbed.text &&
      undisturbed.words.length > 0 &&
      figures.lost + figures.doubled + figures.moved === 0 &&
      money.failed_charged_ms === 0 &&
      money.completed === 1 &&
      lost.usable_max_ms <= USABLE_MS &&
      lost.lost_charged_ms + lost.lost_not_failed === 0;
    return { passed, figures };
  } finally {
    await fleet.stop();
  }
}

/** Kills the node and restarts it with the same id, like a supervisor. */
class MortalNode {
  deaths = 0;
  readonly #fleet: Fleet;
  #process: ServiceProcess;

  constructor(fleet: Fleet, process: ServiceProcess) {
    this.#fleet = fleet;
    this.#process = process;
  }

  async die(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#process.exited;
    this.deaths += 1;
    this.#process = await launchAt(this.#fleet, NODE);
  }
}

function streamOf(api: ServiceProcess, tenant: Tenant): SvcStream {
  const client = new SvcClient({ baseUrl: api.url, apiKey: tenant.apiKey });
  return openStream({
    getSession: ({ signal }) =>
      client.sessions.create({ model: MODEL, maxAudioSeconds: 300 }, { signal }),
  });
}

/** Streams one sentence after another, each with a flush. Calls `trouble` in the middle of each. */
async function dictate(
  stream: SvcStream,
  utterances: number,
  trouble: (utterance: number, firstDelta: Promise<void>) => Promise<void>,
): Promise<Transcript> {
  for (let utterance = 0; utterance < utterances; utterance += 1) {
    const { pcm } = speech(SENTENCES[utterance % SENTENCES.length] ?? 'kikuyu-1');
    const firstDelta = new Promise<void>((resolve) => {
      const stop = stream.on('delta', () => {
        stop();
        resolve();
      });
    });
    const middle = pcm.byteLength * (0.4 + 0.4 * Math.random());
    let troubled = false;
    for (let at = 0; at < pcm.byteLength; at += PIECE_BYTES) {
      await stream.write(pcm.subarray(at, at + PIECE_BYTES));
      await sleep(PIECE_MS);
      if (troubled || at < middle) continue;
      troubled = true;
      await trouble(utterance, Promise.race([firstDelta, sleep(3_000)]));
    }
    await stream.flush();
  }
  return stream.finish();
}

/** Compares words: missing, duplicated and mistimed ones. */
function compare(expected: Transcript, actual: Transcript) {
  const [spoken, stitched] = [expected, actual].map(({ words }) => words.map(({ text }) => text));
  const { missing, added } = compareWords(spoken ?? [], stitched ?? []);
  const moved = expected.words.filter((word, at) => {
    const other = actual.words[at];
    return other?.start_ms !== word.start_ms || other.end_ms !== word.end_ms;
  }).length;
  return { lost: missing, doubled: added, moved };
}

/** Only completed sessions are charged. */
async function chargesOf(api: ServiceProcess, tenant: Tenant) {
  const usage = await usageOf(api.url, tenant);
  const failed = usage.recent_sessions.filter((session) => session.status === 'failed');
  const completed = usage.recent_sessions.filter((session) => session.status === 'completed');
  return {
    failed: failed.length,
    completed: completed.length,
    failed_charged_ms: failed.reduce((sum, session) => sum + session.billable_ms, 0),
    charged_ms: usage.consumed_ms,
  };
}

/** Kills nodes under live streams for good, each at another moment of its lease. */
async function loseNodes(fleet: Fleet, api: ServiceProcess, count: number) {
  const tenants = await fleet.addTenants(count, CREDIT_MS);
  const streams = await Promise.all(
    tenants.map(async (tenant, at) => {
      const node = await launchAt(fleet, { ROLE: 'node', NODE_ID: `lost-${at}` });
      const session = await reserveSession(api.url, tenant, { model: MODEL });
      const client = await openSocket(node.streamUrl, session);
      client.send(speech('kikuyu-1').pcm.subarray(0, 64_000));
      await client.next('delta');
      return { tenant, node };
    }),
  );
  await fleet.untilLeasesCount();
  const usableMs = streams.map(async ({ tenant, node }) => {
    await sleep(Math.random() * 2_000);
    node.kill('SIGKILL');
    const killedAtMs = performance.now();
    await fleet.untilSessionsFailed(tenant);
    const session = await createSession(api.url, tenant, { model: MODEL });
    if (session === null) throw new Error('The account of a dead node cannot start a session.');
    return performance.now() - killedAtMs;
  });
  const figures = {
    lost_nodes: count,
    usable_max_ms: Math.round(Math.max(...(await Promise.all(usableMs)))),
    lost_charged_ms: 0,
    lost_not_failed: 0,
  };
  for (const { tenant } of streams) {
    const usage = await usageOf(api.url, tenant);
    figures.lost_charged_ms += usage.consumed_ms;
    if (usage.recent_sessions.at(-1)?.status !== 'failed') figures.lost_not_failed += 1;
  }
  return figures;
}
