import { setTimeout as sleep } from 'node:timers/promises';
import { overTelephone, soundsWithoutSpeech, withBabble } from '@svc-asr/eval/conditions.ts';
import { toPcm } from '@svc-asr/eval/audio.ts';
import { detectorFor } from '@svc-asr/eval/turns/detectors.ts';
import { readFixtures, readFolder, type Utterance } from '@svc-asr/eval/sets.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { percentile } from '@svc-asr/eval/statistics.ts';
import { converse, type Conversation } from '../endpointing/conversation.ts';
import { disturbed } from '../endpointing/disturbed.ts';
import { detect, emptyDetection, type Detection } from '../endpointing/detection.ts';
import { speakLetters, spelledLetters } from '../endpointing/letters.ts';
import { noTurns, speakLive, type LiveSpeaker, type LiveTurns } from '../endpointing/live-turns.ts';
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
/** Single letters are ended this soon. */
const LETTER_SILENCE_MS = 200;
const NOISE_SECONDS = 10;
/** For sounds that are no speech, and for speech with noise. */
const TENANTS_MORE = 28;
/** In six kinds of noise together, with the confirmed detector: the share of turns that may be cut, or not end in time. */
const NOISY_CUT_PERCENT_MAX = 4;
const NOISY_MISSED_PERCENT_MAX = 6;

export const about =
  'automatic finals in live conversations: how late, how many cut or missed, none on noise';

/** With `--folder DIR` the recordings of that folder are cut into conversations, else the fixtures. */
export async function run({ short, args, log }: CampaignOptions): Promise<CampaignResult> {
  const folder = args.includes('--folder') ? args[args.indexOf('--folder') + 1] : undefined;
  const recordings = folder === undefined ? await readFixtures() : await readFolder(folder);
  const detected = measureDetection(recordings, { rounds: short ? 3 : 20, log });
  const noisy = await measureNoisy(recordings, { rounds: short ? 1 : 10, log });
  const live = noTurns();
  const control = noTurns();
  const fleet = await Fleet.start();
  try {
    const service = await fleet.launch();
    const streams = short ? 9 : 60;
    const tenants = await fleet.addTenants(streams + TENANTS_MORE, 3_600_000);
    const speaker = (at: number): Omit<LiveSpeaker, 'conversation'> => {
      const tenant = tenants[at];
      if (tenant === undefined) throw new Error('Too few tenants.');
      return { service, tenant, model: MODEL, silenceMs: SILENCE_MS, endedBy: 'server' };
    };
    await Promise.all(
      numbers(streams).map(async (number) => {
        // Stagger the starts.
        await sleep(number * 37);
        const some = pick(recordings, number, short ? 3 : 10);
        const conversation = converse(some, { seed: number + 1, ...PAUSES });
        // One in three is the control.
        const endedBy = number % 3 === 2 ? 'client' : 'server';
        const tally = endedBy === 'server' ? live : control;
        await speakLive(tally, { ...speaker(number), conversation, endedBy });
      }),
    );
    const onNoise = noTurns();
    const liveNoisy = noTurns();
    const noisyTalk = converse(pick(recordings, 0, 2), { seed: 77, ...PAUSES });
    const others: (readonly [LiveTurns, Conversation, 'level' | 'confirmed'])[] = [
      ...[...soundsWithoutSpeech(NOISE_SECONDS).values()].map(
        (wave) => [onNoise, { wave, turns: [] }, 'level'] as const,
      ),
      ...[...(await disturbed(noisyTalk, 77)).values()].map(
        (conversation) => [liveNoisy, conversation, 'confirmed'] as const,
      ),
    ];
    await Promise.all(
      others.map(([tally, conversation, detector], at) =>
        speakLive(tally, { ...speaker(streams + at), conversation, detector }),
      ),
    );
    const conversation = await spelledLetters();
    const [byLevel, byBoth] = await Promise.all(
      (['level', 'confirmed'] as const).map((detector, at) =>
        speakLetters({
          ...speaker(streams + others.length + at),
          conversation,
          silenceMs: LETTER_SILENCE_MS,
          detector,
        }),
      ),
    );
    log(`of ${conversation.turns.length} letters missed: level ${byLevel}, confirmed ${byBoth}`);
    log(`${liveNoisy.finals} finals in live conversations with noise`);
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
      noisy_finals: liveNoisy.finals,
      noisy_drift_ms: liveNoisy.driftMs,
      noisy_end_to_final_p95_ms: Math.round(percentile(liveNoisy.latenciesMs, 0.95)),
      letters: conversation.turns.length,
      letters_missed: byBoth ?? 0,
      letters_missed_level: byLevel ?? 0,
      ...noisy,
    };
    const controlLateMs = Math.max(0, figures.control_p95_ms - CONTROL_QUIET_MS);
    const passed =
      figures.end_to_final_p95_ms <= END_TO_FINAL_MAX_MS + CONTROL_WEIGHT * controlLateMs &&
      figures.finals_on_noise === 0 &&
      figures.drift_ms === 0 &&
      figures.noisy_drift_ms === 0 &&
      figures.letters_missed === 0 &&
      noisy.noisy_cut_percent <= NOISY_CUT_PERCENT_MAX &&
      noisy.noisy_missed_percent <= NOISY_MISSED_PERCENT_MAX &&
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

/** Runs both detectors on conversations with noise. The level detector is only compared. */
async function measureNoisy(
  recordings: readonly Utterance[],
  { rounds, log }: { rounds: number; log: (line: string) => void },
) {
  const waves = recordings.map(({ wave }) => wave);
  const detectors = {
    level: { examine: await detectorFor('level'), tally: emptyDetection() },
    confirmed: { examine: await detectorFor('confirmed'), tally: emptyDetection() },
  };
  for (const round of numbers(rounds)) {
    const conversation = converse(waves, { seed: 200 + round, ...PAUSES });
    const noisy = [...(await disturbed(conversation, round)).values()];
    const pcms = noisy.map(({ wave }) => toPcm(wave));
    const samples = pcms.map((pcm) => new Int16Array(pcm.slice().buffer));
    for (const { examine, tally } of Object.values(detectors)) {
      const examined = await examine(samples);
      for (const [at, pcm] of pcms.entries()) {
        const detector = examined.detect(at);
        detect(tally, conversation, { pcm, silenceMs: SILENCE_MS, detector });
      }
    }
  }
  for (const [name, { tally }] of Object.entries(detectors)) {
    log(`with noise, ${name}: ${tally.turns} turns, ${tally.cut} cut, ${tally.missed} missed`);
  }
  const { level, confirmed } = detectors;
  return {
    noisy_cut_percent: percentOf(confirmed.tally.cut, confirmed.tally.turns),
    noisy_missed_percent: percentOf(confirmed.tally.missed, confirmed.tally.turns),
    noisy_cut_percent_level: percentOf(level.tally.cut, level.tally.turns),
    noisy_missed_percent_level: percentOf(level.tally.missed, level.tally.turns),
  };
}

function percentOf(part: number, whole: number): number {
  return Math.round((1_000 * part) / whole) / 10;
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
