import { AUDIO } from '@svc-asr/protocol';
import type { SpeechDetector } from '@svc-asr/engine';
import { toPcm } from '../audio.ts';
import { seededRandom } from '../conditions.ts';
import { ownCpuMs } from '../statistics.ts';
import type { Conversation } from './conversation.ts';
import { detectorFor, type DetectorName, type Examine } from './detectors.ts';
import { emptyTally, scoreTurns, type Tally } from './score-turns.ts';
import { segmentsOf } from './segments.ts';
import { CONDITIONS, WITHOUT_SPEECH } from './turn-conditions.ts';
import { presentTurns, turnFigures, turnGoalsMissed, type TurnResult } from './turn-report.ts';
import { buildTurnSet, type TurnSet } from './turn-set.ts';
import { voicesIn, voicesOf, type Half } from './voices.ts';

const SILENCES_MS = [300, 500, 700] as const;
/** The silence of the goals. */
const GOAL_SILENCE_MS = 500;
const SECONDS_SHORT = 30;
/** `--short` takes every third voice. */
const SHORT_VOICE_STEP = 3;
const STREAMS_WITHOUT_SPEECH = 6;

export interface TurnOptions {
  readonly half: Half;
  readonly folder?: string | undefined;
  readonly short: boolean;
  readonly detector: DetectorName;
  /** Of each voice in each condition. */
  readonly seconds: number;
}

/** Measures the detector of turns on human voices in many conditions. Returns the exit status. */
export async function evaluateTurns({
  half,
  folder,
  short,
  detector,
  seconds: secondsWanted,
}: TurnOptions): Promise<number> {
  const seconds = short ? SECONDS_SHORT : secondsWanted;
  const voices = folder === undefined ? voicesOf(half) : await voicesIn(folder);
  const set = await buildTurnSet(
    voices.filter((_, number) => !short || number % SHORT_VOICE_STEP === 0),
    { half, seconds },
  );
  const minutes = (set.conversations.length * seconds) / 60;
  console.log(`${detector} detector, ${half} voices, ${minutes} minutes in each condition`);
  const examine = await detectorFor(detector);
  const results: TurnResult[] = [];
  for await (const result of measureConditions(set, { short, examine })) {
    results.push(result);
    console.log(`${result.condition} ...`);
  }
  const without = await measureWithoutSpeech(set, { short, examine, seconds: secondsWanted });
  console.log(`\n${presentTurns(results, without, GOAL_SILENCE_MS)}\n`);
  const figures = turnFigures(results, without, GOAL_SILENCE_MS);
  const missed = turnGoalsMissed(figures);
  for (const goal of missed) console.log(`goal missed: ${goal}`);
  const passed = missed.length === 0;
  console.log(JSON.stringify({ name: 'eval-turns', passed, figures }));
  return passed ? 0 : 1;
}

interface Measure {
  readonly short: boolean;
  readonly examine: Examine;
}

async function* measureConditions(
  set: TurnSet,
  { short, examine }: Measure,
): AsyncGenerator<TurnResult> {
  for (const [row, each] of CONDITIONS.entries()) {
    const { name, otherVoices, isDialogue, disturb, short: inShort } = each;
    if (short && !inShort) continue;
    const conversations = isDialogue ? set.dialogues : set.conversations;
    const tallies = new Map(SILENCES_MS.map((silenceMs) => [silenceMs, emptyTally()] as const));
    const waves: Int16Array[] = [];
    for (const [column, conversation] of conversations.entries()) {
      const random = seededRandom(1_000 * (row + 1) + column);
      waves.push(toInt16(await disturb(conversation, random, set.sounds)));
    }
    const { detect, cpuMs } = await examine(waves);
    for (const [silenceMs, tally] of tallies) {
      if (short && silenceMs !== GOAL_SILENCE_MS) continue;
      tally.cpuMs += cpuMs;
      for (const [column, conversation] of conversations.entries()) {
        const samples = waves[column] ?? new Int16Array();
        listen(tally, conversation, { samples, silenceMs, detector: detect(column) });
      }
    }
    yield { condition: name, otherVoices, tallies };
  }
}

/** False starts in sounds without speech. */
async function measureWithoutSpeech(
  set: TurnSet,
  { short, examine, seconds }: Measure & { readonly seconds: number },
): Promise<ReadonlyMap<string, Tally>> {
  const length = seconds * AUDIO.sampleRateHz;
  const nothing = { voice: '', letters: false, wave: new Float32Array(length), phrases: [] };
  const streams = short ? 1 : STREAMS_WITHOUT_SPEECH;
  const tallies = new Map<string, Tally>();
  for (const [row, [name, make]] of [...WITHOUT_SPEECH].entries()) {
    const tally = emptyTally();
    const waves = Array.from({ length: streams }, (_, stream) =>
      toInt16(make(length, seededRandom(90_000 + 100 * row + stream), set.sounds)),
    );
    const { detect, cpuMs } = await examine(waves);
    tally.cpuMs += cpuMs;
    for (const [stream, samples] of waves.entries()) {
      const detector = detect(stream);
      listen(tally, nothing, { samples, silenceMs: GOAL_SILENCE_MS, detector });
    }
    tallies.set(name, tally);
  }
  return tallies;
}

function listen(
  tally: Tally,
  conversation: Conversation,
  {
    samples,
    silenceMs,
    detector,
  }: { samples: Int16Array; silenceMs: number; detector: SpeechDetector },
): void {
  const before = ownCpuMs();
  const segments = segmentsOf(detector, samples, silenceMs);
  tally.cpuMs += ownCpuMs() - before;
  scoreTurns(tally, conversation, { segments, silenceMs });
}

function toInt16(wave: Float32Array): Int16Array {
  return new Int16Array(toPcm(wave).slice().buffer);
}
