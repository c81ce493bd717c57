import { setTimeout as sleep } from 'node:timers/promises';
import { ENDPOINTING } from '@svc-asr/protocol';
import { readFixtures } from '@svc-asr/eval/sets.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { converse } from '../endpointing/conversation.ts';
import { noTurns, recordLive, speakLive, type LiveSpeaker } from '../endpointing/live-turns.ts';
import { turnParts, type TurnParts } from '../endpointing/turn-parts.ts';
import { percentile } from '@svc-asr/eval/statistics.ts';
import { numbers } from '../service/concurrency.ts';
import { Fleet } from '../service/fleet.ts';

/** From the end of speech to the final, by what takes the time. */
const SILENCES_MS = [200, 300, 500, 700] as const;
const FRAMES_MS = [20, 100] as const;
const MODEL = 'svc-asr-kikuyu-v1';
const PAUSES = { pauseMinMs: 1_000, pauseMaxMs: 2_000 } as const;
const TURNS = 16;
const TURNS_SHORT = 3;
/** Other people who speak at the same time, in the second round. */
const OTHERS = 24;
/** What the service may add to the silence, at the median, with small messages and nobody else. */
const ADDED_MS_MAX = 60;
const STAGGER_MS = 61;
const PARTS = ['heard', 'silence', 'message', 'decision', 'decode', 'total'] as const;

export const about =
  'from the end of speech to the final: detector, silence, messages, decision, decode';

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const recordings = (await readFixtures()).filter(({ language }) => language === 'ki');
  const waves = recordings.map(({ wave }) => wave);
  const fleet = await Fleet.start();
  try {
    const service = await fleet.launch();
    const plans = plansOf(short);
    const tenants = await fleet.addTenants(plans.length + (short ? 0 : OTHERS), 3_600_000);
    // All before the first connection: mixing them takes so long that a server would give up waiting for requests.
    const speakers = tenants.map((tenant, number): Speaker => {
      const count = short ? TURNS_SHORT : TURNS;
      const said = numbers(count).flatMap((at) => waves[(at + number) % waves.length] ?? []);
      const conversation = converse(said, { seed: 300 + number, ...PAUSES });
      return { service, tenant, model: MODEL, conversation, endedBy: 'server' };
    });
    const measure = (): Promise<Measured[]> => measureAll(plans, speakers);
    const alone = await measure();
    const figures = report('alone', alone, log);
    if (!short) {
      const others = speakers.slice(plans.length).map(async (speaker, number) => {
        await sleep(number * STAGGER_MS);
        await speakLive(noTurns(), { ...speaker, silenceMs: 700 });
      });
      Object.assign(figures, report(`beside_${OTHERS}`, await measure(), log));
      await Promise.all(others);
    }
    const small = alone.filter(({ frameMs }) => frameMs === FRAMES_MS[0]);
    const passed = small.every(({ parts }) => added(parts) <= ADDED_MS_MAX);
    return { passed, figures };
  } finally {
    await fleet.stop();
  }
}

type Speaker = Omit<LiveSpeaker, 'silenceMs'>;

interface Plan {
  readonly detector: (typeof ENDPOINTING.detectors)[number];
  readonly silenceMs: number;
  readonly frameMs: number;
}

interface Measured extends Plan {
  readonly parts: readonly TurnParts[];
}

function plansOf(short: boolean): Plan[] {
  const silences = short ? SILENCES_MS.slice(0, 1) : SILENCES_MS;
  const frames = short ? FRAMES_MS.slice(0, 1) : FRAMES_MS;
  return ENDPOINTING.detectors.flatMap((detector) =>
    silences.flatMap((silenceMs) => frames.map((frameMs) => ({ detector, silenceMs, frameMs }))),
  );
}

/** All combinations at once: they are too few to delay each other. */
async function measureAll(
  plans: readonly Plan[],
  speakers: readonly Speaker[],
): Promise<Measured[]> {
  const recordings = plans.map(async (plan, number) => {
    const speaker = speakers[number];
    if (speaker === undefined) throw new Error('Too few speakers.');
    await sleep(number * STAGGER_MS);
    const { turns } = speaker.conversation;
    const recorded = await recordLive({ ...speaker, ...plan });
    return { ...plan, parts: turnParts(recorded, { turns, ...plan }) };
  });
  return Promise.all(recordings);
}

/** What the service adds to the silence, at the median. The client's messages don't count. */
function added(parts: readonly TurnParts[]): number {
  return percentile(
    parts.map(({ decision, decode }) => decision + decode),
    0.5,
  );
}

/** Medians of the parts, and the 95th percentile of the whole. */
function report(
  load: string,
  measured: readonly Measured[],
  log: (line: string) => void,
): Record<string, number> {
  const figures: Record<string, number> = {};
  for (const { detector, silenceMs, frameMs, parts } of measured) {
    const medians = PARTS.map((part) => {
      const value = percentile(
        parts.map((each) => each[part]),
        0.5,
      );
      return [part, Math.round(value)] as const;
    });
    const totals = parts.map(({ total }) => total);
    const name = `${load}_${detector}_${silenceMs}_${frameMs}`;
    for (const [part, value] of medians) figures[`${part}_ms_${name}`] = value;
    figures[`total_p95_ms_${name}`] = Math.round(percentile(totals, 0.95));
    figures[`turns_${name}`] = parts.length;
    log(
      `${load}, ${detector}, silence ${silenceMs}, messages of ${frameMs} ms, ${parts.length} turns: ` +
        medians.map(([part, value]) => `${part} ${value}`).join(', ') +
        `, p95 ${figures[`total_p95_ms_${name}`]}`,
    );
  }
  return figures;
}
