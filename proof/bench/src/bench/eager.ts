import { rm } from 'node:fs/promises';
import type { ServerEvent } from '@svc-asr/protocol';
import { readFixtures } from '@svc-asr/eval/sets.ts';
import { percentile, round } from '@svc-asr/eval/statistics.ts';
import { decodeFiles } from '@svc-asr/eval/turns/decode.ts';
import { recordingsOf, voicesOf } from '@svc-asr/eval/turns/voices.ts';
import { standInModels, zipformerModels } from '@svc-asr/testing/speech/stand-in.ts';
import { prefixed, type CampaignOptions, type CampaignResult } from '../campaign.ts';
import { converse, type Conversation } from '../endpointing/conversation.ts';
import { recordLive, type LiveRecord } from '../endpointing/live-turns.ts';
import { cpuMsOf } from '../engine/processor.ts';
import { Fleet } from '../service/fleet.ts';

/** What eager ends of turn gain and cost, through the whole service. */
const EAGER_MS = 250;
const SILENCES_MS = [500, 700] as const;
/** The gain may be this much less than the difference of the silences. */
const LOST_MS_MAX = 50;
const EQUAL_PCT_MIN = 95;
const MODEL = 'svc-asr-kikuyu-v1';
const PAUSES = { pauseMinMs: 1_200, pauseMaxMs: 2_000 } as const;
const TURNS = 16;
const TURNS_SHORT = 4;
/** With and without take turns, so that other load on the machine affects both. */
const ROUNDS = 2;

export const about = 'gain, equal texts, events taken back and CPU of eager ends of turn';

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const conversations = await conversationsOf(short ? TURNS_SHORT : TURNS);
  const weights = { ctc: standInModels(), ...(short ? {} : { zipformer: zipformerModels() }) };
  let passed = true;
  const figures: Record<string, number> = {};
  for (const [kind, modelsDir] of Object.entries(weights)) {
    const result = await measure(conversations, { modelsDir, rounds: short ? 1 : ROUNDS });
    log(`${kind}: ${JSON.stringify(result.figures)}`);
    passed &&= result.passed;
    Object.assign(figures, prefixed(kind, result));
    await rm(modelsDir, { recursive: true });
  }
  return { passed, figures };
}

/** Synthetic sentences, and prompts read by people, who pause inside them. */
async function conversationsOf(turns: number): Promise<Conversation[]> {
  const sentences = (await readFixtures()).map(({ wave }) => wave);
  const prompts = voicesOf('held-out').filter(({ folders }) => folders.length > 2);
  const read = prompts.map(async (voice) => decodeFiles(await recordingsOf(voice)));
  return [sentences, ...(await Promise.all(read))].map((recordings, seed) => {
    const step = Math.max(1, Math.floor(recordings.length / turns));
    const said = Array.from(
      { length: turns },
      (_, at) => recordings[(at * step) % recordings.length],
    );
    return converse(
      said.filter((wave) => wave !== undefined),
      { seed, ...PAUSES },
    );
  });
}

async function measure(
  conversations: readonly Conversation[],
  { modelsDir, rounds }: { readonly modelsDir: string; readonly rounds: number },
): Promise<CampaignResult> {
  const fleet = await Fleet.start();
  try {
    const service = await fleet.launch({ MODELS_DIR: modelsDir });
    const pids = [service.pid, ...service.children()];
    const plans = SILENCES_MS.flatMap((silenceMs) =>
      conversations.map((conversation) => ({ silenceMs, conversation })),
    );
    const tenants = await fleet.addTenants(plans.length, 3_600_000);
    const records: (LiveRecord & { readonly silenceMs: number })[] = [];
    const cpuMs = { without: 0, with: 0 };
    const detector = 'confirmed';
    const rest = { service, model: MODEL, endedBy: 'server', detector } as const;
    const speakAll = async (more: { eagerMs?: number }) => {
      const before = cpuMsOf(pids);
      const spoken = tenants.flatMap((tenant, at) => {
        const plan = plans[at];
        return plan === undefined ? [] : [recordLive({ ...rest, tenant, ...plan, ...more })];
      });
      const recorded = await Promise.all(spoken);
      return { recorded, cpuMs: cpuMsOf(pids) - before };
    };
    for (let number = 0; number < rounds; number += 1) {
      cpuMs.without += (await speakAll({})).cpuMs;
      const eager = await speakAll({ eagerMs: EAGER_MS });
      cpuMs.with += eager.cpuMs;
      for (const [at, recorded] of eager.recorded.entries()) {
        records.push({ ...recorded, silenceMs: plans[at]?.silenceMs ?? 0 });
      }
    }
    return judge(records, round(100 * (cpuMs.with / cpuMs.without - 1), 1));
  } finally {
    await fleet.stop();
  }
}

function judge(
  records: readonly (LiveRecord & { readonly silenceMs: number })[],
  extraCpuPct: number,
): CampaignResult {
  const figures: Record<string, number> = { extra_cpu_pct: extraCpuPct };
  const all = records.flatMap(({ arrivals }) => outcomesOf(arrivals));
  if (all.length === 0) throw new Error('No turn_eager arrived. Is the machine too busy?');
  const ended = all.filter(({ end }) => end !== 'resumed');
  figures['events'] = all.length;
  const finals = records.flatMap(({ arrivals }) => arrivals.filter(({ event }) => isTurn(event)));
  figures['turns'] = finals.length;
  figures['false_pct'] = percentOf(all.length - ended.length, all.length);
  figures['equal_pct'] = percentOf(ended.filter(({ end }) => end === 'same').length, ended.length);
  let passed = figures['equal_pct'] >= EQUAL_PCT_MIN;
  for (const silence of SILENCES_MS) {
    const gains = records
      .filter(({ silenceMs }) => silenceMs === silence)
      .flatMap(({ arrivals }) => outcomesOf(arrivals))
      .flatMap(({ end, gainMs }) => (end === 'same' ? [gainMs] : []));
    const gainMs = Math.round(percentile(gains, 0.5));
    figures[`gain_p50_ms_${silence}`] = gainMs;
    passed &&= gainMs >= silence - EAGER_MS - LOST_MS_MAX;
  }
  return { passed, figures };
}

function percentOf(part: number, whole: number): number {
  return round((100 * part) / Math.max(1, whole), 1);
}

interface Outcome {
  readonly end: 'same' | 'other' | 'resumed';
  /** How much later the final or `turn_resumed` arrived. */
  readonly gainMs: number;
}

/** What became of every `turn_eager`. Those that the close of the stream ended don't count. */
function outcomesOf(arrivals: LiveRecord['arrivals']): Outcome[] {
  const outcomes: Outcome[] = [];
  let eagerMs: number | null = null;
  for (const { event, atMs } of arrivals) {
    if (event.type === 'turn_eager') eagerMs = atMs;
    const end = endOf(event);
    if (end === null || eagerMs === null) continue;
    outcomes.push({ end, gainMs: atMs - eagerMs });
    eagerMs = null;
  }
  return outcomes;
}

/** The final of a turn in which something was recognised. */
function isTurn(event: ServerEvent): event is Extract<ServerEvent, { type: 'final' }> {
  return event.type === 'final' && event.reason === 'endpoint' && event.text !== '';
}

function endOf(event: ServerEvent): Outcome['end'] | null {
  if (event.type === 'turn_resumed') return 'resumed';
  if (event.type !== 'final' || event.reason !== 'endpoint') return null;
  return event.eager === undefined ? 'other' : 'same';
}
