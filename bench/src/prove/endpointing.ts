import { setTimeout as sleep } from 'node:timers/promises';
import { overTelephone, soundsWithoutSpeech, withBabble } from '@svc-asr/eval/conditions.ts';
import { toPcm } from '@svc-asr/eval/audio.ts';
import { readFixtures, readFolder, type Utterance } from '@svc-asr/eval/sets.ts';
import type { Campaign, CampaignOptions, CampaignResult } from '../campaign.ts';
import { percentile } from '../engine/percentile.ts';
import { converse, type Conversation } from '../endpointing/conversation.ts';
import { detect, emptyDetection, type Detection } from '../endpointing/detection.ts';
import { noTurns, speakLive } from '../endpointing/live-turns.ts';
import { numbers } from '../service/concurrency.ts';
import { Fleet } from '../service/fleet.ts';

const SILENCE_MS = 700;
const MODEL = 'svc-asr-kikuyu-v1';
/** Long enough for the silence and a little more, as in a conversation. */
const PAUSES = { pauseMinMs: 1_000, pauseMaxMs: 3_000 } as const;
const END_TO_FINAL_MAX_MS = SILENCE_MS + 250;
/** What the control takes on a quiet machine. When a busy machine makes it later, the goal moves along. */
const CONTROL_QUIET_MS = SILENCE_MS + 150;
const CONTROL_WEIGHT = 1.5;
const SPEECH_ERROR_MAX_MS = 100;
const NOISE_SECONDS = 10;

export const campaign: Campaign = {
  about: 'automatic finals in live conversations: how late, how many cut or missed, none on noise',
  run,
};

/** With `--folder DIR` the recordings of that folder are cut into conversations, else the fixtures. */
async function run({ short, args, log }: CampaignOptions): Promise<CampaignResult> {
  const folder = args.includes('--folder') ? args[args.indexOf('--folder') + 1] : undefined;
  const recordings = folder === undefined ? await readFixtures() : await readFolder(folder);
  const detected = measureDetection(recordings, { rounds: short ? 3 : 20, log });
  const live = noTurns();
  const control = noTurns();
  const fleet = await Fleet.start();
  try {
    const service = await fleet.launch();
    const streams = short ? 9 : 60;
    const tenants = await fleet.addTenants(streams + 20, 3_600_000);
    await Promise.all(
      numbers(streams).map(async (number) => {
        // Stagger the starts.
        await sleep(number * 37);
        const tenant = tenants[number];
        if (tenant === undefined) return;
        const some = pick(recordings, number, short ? 3 : 10);
        const conversation = converse(some, { seed: number + 1, ...PAUSES });
        // One in three is the control.
        const endedBy = number % 3 === 2 ? 'client' : 'server';
        await speakLive(endedBy === 'server' ? live : control, {
          service,
          tenant,
          model: MODEL,
          conversation,
          silenceMs: SILENCE_MS,
          endedBy,
        });
      }),
    );
    const onNoise = noTurns();
    await Promise.all(
      [...soundsWithoutSpeech(NOISE_SECONDS).values()].map((wave, at) => {
        const tenant = tenants[streams + at];
        if (tenant === undefined) throw new Error('Too few tenants.');
        const conversation = { wave, turns: [] };
        return speakLive(onNoise, {
          service,
          tenant,
          model: MODEL,
          conversation,
          silenceMs: SILENCE_MS,
          endedBy: 'server',
        });
      }),
    );
    log(`${live.finals} finals in live conversations, ${onNoise.finals} on noise`);
    const figures = {
      utterances: live.finals,
      end_to_final_p95_ms: Math.round(percentile(live.latenciesMs, 0.95)),
      control_p95_ms: Math.round(percentile(control.latenciesMs, 0.95)),
      cut_words_per_hour: perHour(detected, ({ cut }) => cut),
      missed_per_hour: perHour(detected, ({ missed }) => missed),
      finals_on_noise: onNoise.finals,
      drift_ms: live.driftMs,
      speech_event_error_p95_ms: Math.round(percentile(live.speechErrorsMs, 0.95)),
      ...detectionFigures(detected),
    };
    const controlLateMs = Math.max(0, figures.control_p95_ms - CONTROL_QUIET_MS);
    const passed =
      figures.end_to_final_p95_ms <= END_TO_FINAL_MAX_MS + CONTROL_WEIGHT * controlLateMs &&
      figures.finals_on_noise === 0 &&
      figures.drift_ms === 0 &&
      figures.speech_event_error_p95_ms <= SPEECH_ERROR_MAX_MS;
    return { passed, figures };
  } finally {
    await fleet.stop();
  }
}

/** Runs the detector alone on clean speech, telephone speech and speech with babble. */
function measureDetection(
  recordings: readonly Utterance[],
  { rounds, log }: { rounds: number; log: (line: string) => void },
): ReadonlyMap<string, Detection> {
  const waves = recordings.map(({ wave }) => wave);
  const disturbances = {
    clean: ({ wave }: Conversation) => wave,
    telephone: ({ wave }: Conversation) => overTelephone(wave),
    babble: ({ wave }: Conversation) => withBabble(wave, waves, 7),
  };
  const tallies = new Map<string, Detection>();
  for (const [name, disturb] of Object.entries(disturbances)) {
    const tally = emptyDetection();
    for (const round of numbers(rounds)) {
      const conversation = converse(waves, { seed: 100 + round, ...PAUSES });
      const pcm = toPcm(disturb(conversation));
      detect(tally, conversation, { pcm, silenceMs: SILENCE_MS });
    }
    tallies.set(name, tally);
    log(`${name}: ${tally.turns} turns, ${tally.cut} cut, ${tally.missed} missed`);
  }
  return tallies;
}

function perHour(
  tallies: ReadonlyMap<string, Detection>,
  count: (tally: Detection) => number,
): number {
  const worst = [...tallies.values()].map((tally) => count(tally) / tally.hours);
  return Math.round(Math.max(...worst) * 10) / 10;
}

function detectionFigures(tallies: ReadonlyMap<string, Detection>): Record<string, number> {
  const figures: Record<string, number> = {};
  for (const [name, { cut, missed, hours }] of tallies) {
    figures[`cut_words_per_hour_${name}`] = Math.round((cut / hours) * 10) / 10;
    figures[`missed_per_hour_${name}`] = Math.round((missed / hours) * 10) / 10;
  }
  return figures;
}

function pick(recordings: readonly Utterance[], from: number, count: number): Float32Array[] {
  const kikuyu = recordings.filter(({ language }) => language === 'ki');
  return numbers(count).flatMap((at) => kikuyu[(from + at) % kikuyu.length]?.wave ?? []);
}
