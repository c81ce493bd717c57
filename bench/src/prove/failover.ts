import { setTimeout as pass } from 'node:timers/promises';
import { speech } from '@svc-asr/engine/test/speech.ts';
import { SvcClient } from '@svc-asr/sdk';
import { openStream, type SvcStream, type Transcript } from '@svc-asr/sdk/stream';
import type { Campaign, CampaignOptions, CampaignResult } from '../campaign.ts';
import { Fleet, usageOf, type Tenant } from '../service/fleet.ts';
import { launchAt } from '../service/placed-node.ts';
import type { ServiceProcess } from '../service/service-process.ts';

/** A node dies again and again under one stream: the SDK's transcript is the one of an undisturbed stream. */
const MODEL = 'svc-asr-kikuyu-v1';
const NODE = { ROLE: 'node', NODE_ID: 'the-one' };
const SENTENCES = ['kikuyu-1', 'kikuyu-2', 'kikuyu-3', 'kikuyu-4'];
const CREDIT_MS = 3_600_000;
const PIECE_BYTES = 6_400;
/** Ten times as fast as speech, so that a kill falls into the middle of a stream and not behind it. */
const PIECE_MS = 20;

export const campaign: Campaign = {
  about: 'a node killed ten times under one stream: the stitched transcript is the undisturbed one',
  run,
};

async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const kills = short ? 2 : 10;
  const fleet = await Fleet.start();
  try {
    const api = await fleet.launch({ ROLE: 'api', NODE_ID: 'api' });
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
    const stitched = await dictate(stream, utterances, async (utterance, heard) => {
      if (utterance >= kills) return;
      await heard;
      await node.die();
      log(`${node.deaths} of ${kills} killed`);
    });
    const money = await moneyOf(api, disturbed);
    const figures = {
      kills: node.deaths,
      sessions: stitched.sessions.length,
      words: undisturbed.words.length,
      ...compare(undisturbed, stitched),
      ...money,
    };
    const passed =
      stitched.text === undisturbed.text &&
      undisturbed.words.length > 0 &&
      figures.lost + figures.doubled + figures.moved === 0 &&
      money.failed_charged_ms === 0 &&
      money.completed === 1;
    return { passed, figures };
  } finally {
    await fleet.stop();
  }
}

/** Killed, and started again under its name, as a supervisor would do. */
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

/** One sentence after the other, each with its flush. `trouble` is called in the middle of each. */
async function dictate(
  stream: SvcStream,
  utterances: number,
  trouble: (utterance: number, heard: Promise<void>) => Promise<void>,
): Promise<Transcript> {
  for (let utterance = 0; utterance < utterances; utterance += 1) {
    const { pcm } = speech(SENTENCES[utterance % SENTENCES.length] ?? 'kikuyu-1');
    const heard = new Promise<void>((resolve) => {
      const stop = stream.on('delta', () => {
        stop();
        resolve();
      });
    });
    const middle = pcm.byteLength * (0.4 + 0.4 * Math.random());
    let troubled = false;
    for (let at = 0; at < pcm.byteLength; at += PIECE_BYTES) {
      await stream.write(pcm.subarray(at, at + PIECE_BYTES));
      await pass(PIECE_MS);
      if (troubled || at < middle) continue;
      troubled = true;
      await trouble(utterance, Promise.race([heard, pass(3_000)]));
    }
    await stream.flush();
  }
  return stream.finish();
}

/** Word by word: what is missing, what is there too often, and what stands at another time. */
function compare(expected: Transcript, actual: Transcript) {
  const missing = expected.words.map((word) => word.text);
  let doubled = 0;
  for (const word of actual.words.map((word) => word.text)) {
    const at = missing.indexOf(word);
    if (at < 0) doubled += 1;
    else missing.splice(at, 1);
  }
  const moved = expected.words.filter((word, at) => {
    const other = actual.words[at];
    return other?.start_ms !== word.start_ms || other.end_ms !== word.end_ms;
  }).length;
  return { lost: missing.length, doubled, moved };
}

/** Only what came to its end is paid for. */
async function moneyOf(api: ServiceProcess, tenant: Tenant) {
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
