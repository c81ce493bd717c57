import { AUDIO } from '@svc-asr/protocol';
import type { Conversation, SpokenPhrase } from './conversation.ts';
import { percentile } from '../statistics.ts';
import type { Segment } from './segments.ts';

/** Compares what a detector found with what was said. */

export interface Tally {
  turns: number;
  cut: number;
  never: number;
  phrases: number;
  missed: number;
  short: number;
  missedShort: number;
  falseStarts: number;
  /** Those that would interrupt a voice agent. */
  falseInterruptions: number;
  hours: number;
  cpuMs: number;
  readonly startErrorsMs: number[];
  readonly endErrorsMs: number[];
}

const MS = AUDIO.sampleRateHz / 1_000;
/** An endpoint belongs to a turn if it comes this soon after the silence was long enough. */
const LATE_MS = 500;
const TOLERANCE_MS = 100;
const START_EARLY_MS = 250;
/** A phrase counts as detected if this share of it was. */
const DETECTED_SHARE = 0.2;

export function emptyTally(): Tally {
  const counts = { turns: 0, cut: 0, never: 0, phrases: 0, missed: 0, short: 0, missedShort: 0 };
  return {
    ...counts,
    falseStarts: 0,
    falseInterruptions: 0,
    hours: 0,
    cpuMs: 0,
    startErrorsMs: [],
    endErrorsMs: [],
  };
}

export function scoreTurns(
  tally: Tally,
  { phrases, wave, letters }: Conversation,
  { segments, silenceMs }: { segments: readonly Segment[]; silenceMs: number },
): void {
  tally.hours += wave.length / AUDIO.sampleRateHz / 3_600;
  const falseOnes = segments.filter((segment) => isFalse(segment, phrases));
  tally.falseStarts += falseOnes.length;
  tally.falseInterruptions += falseOnes.filter(({ confirmed }) => confirmed !== false).length;
  for (const phrase of phrases) {
    const missed = !isHeard(phrase, segments);
    tally.phrases += 1;
    tally.missed += Number(missed);
    if (!phrase.alone && !letters) continue;
    tally.short += 1;
    tally.missedShort += Number(missed);
  }
  const turns = turnsOf(phrases, silenceMs);
  for (const [number, turn] of turns.entries()) {
    const next = turns[number + 1]?.start ?? Infinity;
    scoreTurn(tally, turn, { next, segments, silenceMs });
    const before = turn.start - (turns[number - 1]?.end ?? 0);
    if (before < (silenceMs + 200) * MS) continue;
    const started = segments.find(
      ({ start }) =>
        start >= turn.start - START_EARLY_MS * MS &&
        start <= Math.min(turn.end, turn.start + 600 * MS),
    );
    if (started !== undefined) tally.startErrorsMs.push((started.start - turn.start) / MS);
  }
}

function scoreTurn(
  tally: Tally,
  turn: { start: number; end: number },
  { next, segments, silenceMs }: { next: number; segments: readonly Segment[]; silenceMs: number },
): void {
  const ended = segments.filter(({ endpoint }) => endpoint !== null);
  const latest = Math.min(turn.end + (silenceMs + LATE_MS) * MS, next + 50 * MS);
  const right = ended.find(({ endpoint }) => {
    return endpoint !== null && endpoint >= turn.end - 20 * MS && endpoint <= latest;
  });
  const cut = ended.some(({ endpoint }) => {
    return endpoint !== null && endpoint > turn.start + 50 * MS && endpoint < turn.end;
  });
  tally.turns += 1;
  tally.cut += Number(cut);
  tally.never += Number(right === undefined);
  if (right !== undefined) tally.endErrorsMs.push((right.end - turn.end) / MS);
}

/** Phrases with shorter pauses than the silence are one turn. */
function turnsOf(
  phrases: readonly SpokenPhrase[],
  silenceMs: number,
): { start: number; end: number }[] {
  const turns: { start: number; end: number }[] = [];
  for (const { start, end } of phrases) {
    const last = turns.at(-1);
    if (last !== undefined && start - last.end < silenceMs * MS) last.end = end;
    else turns.push({ start, end });
  }
  return turns;
}

function isHeard(phrase: SpokenPhrase, segments: readonly Segment[]): boolean {
  let detected = 0;
  for (const { start, end } of segments) {
    detected += Math.max(0, Math.min(end, phrase.end) - Math.max(start, phrase.start));
  }
  return detected >= DETECTED_SHARE * (phrase.end - phrase.start);
}

/** Nothing was said during the segment. */
function isFalse(segment: Segment, phrases: readonly SpokenPhrase[]): boolean {
  const tolerance = TOLERANCE_MS * MS;
  return !phrases.some(
    ({ start, end }) => segment.start < end + tolerance && segment.end > start - tolerance,
  );
}

/** The figures of a condition: percentages, counts an hour and milliseconds. */
export function figuresOfTally(tally: Tally): Record<string, number> {
  return {
    cut_pct: percent(tally.cut, tally.turns),
    never_pct: percent(tally.never, tally.turns),
    missed_pct: percent(tally.missed, tally.phrases),
    missed_short_pct: percent(tally.missedShort, tally.short),
    false_starts_per_hour: Math.round(tally.falseStarts / Math.max(1e-9, tally.hours)),
    false_interruptions_per_hour: Math.round(
      tally.falseInterruptions / Math.max(1e-9, tally.hours),
    ),
    start_error_p50_ms: at(tally.startErrorsMs, 0.5),
    end_error_p5_ms: at(tally.endErrorsMs, 0.05),
    end_error_p50_ms: at(tally.endErrorsMs, 0.5),
    end_error_p95_ms: at(tally.endErrorsMs, 0.95),
    cpu_ms_per_s: Math.round(tally.cpuMs / Math.max(1e-9, tally.hours) / 36) / 100,
  };
}

function percent(part: number, whole: number): number {
  return Math.round((1_000 * part) / Math.max(1, whole)) / 10;
}

function at(values: readonly number[], share: number): number {
  return values.length === 0 ? 0 : Math.round(percentile(values, share));
}
