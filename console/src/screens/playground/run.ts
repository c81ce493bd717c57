import type { DeltaEvent, FinalEvent } from '@svc-asr/protocol';

/** One line of the transcript, for one turn. */
export type Turn = readonly TurnWord[];

export interface TurnWord {
  readonly text: string;
  /** Confidence from 0 to 1. Null if the recogniser provides none. */
  readonly confidence: number | null;
}

/** The state of one playground run, from the click to the receipt. A pure reducer. */
export interface Run {
  readonly phase: 'idle' | 'connecting' | 'listening' | 'finishing' | 'done' | 'failed';
  readonly turns: readonly Turn[];
  /** The current utterance, and how many of its characters are stable. */
  readonly text: string;
  readonly stableChars: number;
  readonly audioMs: number;
  readonly billableMs: number;
  /** Credit left after this session, or null before there is one. */
  readonly remainingMs: number | null;
  readonly reservedMs: number;
  readonly latencyMs: number | null;
  readonly problem: { readonly code: string; readonly message: string } | null;
}

export type RunEvent =
  | { readonly type: 'started' }
  | { readonly type: 'reserved'; readonly remainingMs: number; readonly reservedMs: number }
  | { readonly type: 'ready' }
  | {
      readonly type: 'delta';
      readonly delta: DeltaEvent;
      /** How much audio of the session the text covers. */
      readonly audioMs: number;
      readonly latencyMs: number | null;
    }
  | { readonly type: 'final'; readonly final: FinalEvent }
  | { readonly type: 'stopping' }
  | { readonly type: 'finished' }
  | { readonly type: 'failed'; readonly code: string; readonly message: string };

export const IDLE: Run = {
  phase: 'idle',
  turns: [],
  text: '',
  stableChars: 0,
  audioMs: 0,
  billableMs: 0,
  remainingMs: null,
  reservedMs: 0,
  latencyMs: null,
  problem: null,
};

export function follow(run: Run, event: RunEvent): Run {
  switch (event.type) {
    case 'started':
      return { ...IDLE, phase: 'connecting' };
    case 'reserved':
      return { ...run, remainingMs: event.remainingMs, reservedMs: event.reservedMs };
    case 'ready':
      return run.phase === 'connecting' ? { ...run, phase: 'listening' } : run;
    case 'delta':
      return {
        ...run,
        text: event.delta.text,
        stableChars: event.delta.stable_chars,
        audioMs: Math.max(run.audioMs, event.audioMs),
        latencyMs: event.latencyMs ?? run.latencyMs,
      };
    case 'final':
      return {
        ...run,
        turns: event.final.text === '' ? run.turns : [...run.turns, turnOf(event.final)],
        text: '',
        stableChars: 0,
        audioMs: event.final.total_audio_ms,
        billableMs: event.final.billable_ms,
      };
    case 'stopping':
      return run.phase === 'failed' ? run : { ...run, phase: 'finishing' };
    case 'finished':
      return run.phase === 'failed' ? run : settle(run);
    case 'failed':
      return { ...run, phase: 'failed', problem: { code: event.code, message: event.message } };
  }
}

function turnOf({ words }: FinalEvent): Turn {
  return words.map(({ text, confidence }) => ({ text, confidence: confidence ?? null }));
}

/** Adds the unused reservation back. */
function settle(run: Run): Run {
  const returnedMs = run.reservedMs - run.billableMs;
  const remainingMs = run.remainingMs === null ? null : run.remainingMs + returnedMs;
  return { ...run, phase: 'done', remainingMs };
}

export function isRunning(run: Run): boolean {
  return run.phase === 'connecting' || run.phase === 'listening' || run.phase === 'finishing';
}

/** On synthetic speech, nearly half of the words below it are wrong, and 1 in 20 above it (models/MODEL_CARD.md). */
const UNCERTAIN_BELOW = 0.6;

export function isUncertain({ confidence }: TurnWord): boolean {
  return confidence !== null && confidence < UNCERTAIN_BELOW;
}
