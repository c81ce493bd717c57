import type { DeltaEvent, FinalEvent } from '@svc-asr/protocol';

/** One try of the playground, from the click to the receipt. Pure: events in, what to show out. */
export interface Run {
  readonly phase: 'idle' | 'connecting' | 'listening' | 'finishing' | 'done' | 'failed';
  /** Utterances that will not change any more. */
  readonly finals: readonly string[];
  /** The utterance being spoken, and how much of it is settled. */
  readonly text: string;
  readonly stableChars: number;
  readonly audioMs: number;
  readonly billableMs: number;
  /** What is left once this session is settled; null before there is one. */
  readonly remainingMs: number | null;
  readonly reservedMs: number;
  readonly latencyMs: number | null;
  readonly problem: { readonly code: string; readonly message: string } | null;
}

export type RunEvent =
  | { readonly type: 'started' }
  | { readonly type: 'reserved'; readonly remainingMs: number; readonly reservedMs: number }
  | { readonly type: 'ready' }
  | { readonly type: 'delta'; readonly delta: DeltaEvent; readonly latencyMs: number | null }
  | { readonly type: 'final'; readonly final: FinalEvent }
  | { readonly type: 'stopping' }
  | { readonly type: 'finished' }
  | { readonly type: 'failed'; readonly code: string; readonly message: string };

export const IDLE: Run = {
  phase: 'idle',
  finals: [],
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
        audioMs: Math.max(run.audioMs, event.delta.audio_ms),
        latencyMs: event.latencyMs ?? run.latencyMs,
      };
    case 'final':
      return {
        ...run,
        finals: event.final.text === '' ? run.finals : [...run.finals, event.final.text],
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

/** What was not used is back on the account. */
function settle(run: Run): Run {
  const returnedMs = run.reservedMs - run.billableMs;
  const remainingMs = run.remainingMs === null ? null : run.remainingMs + returnedMs;
  return { ...run, phase: 'done', remainingMs };
}

export function isRunning(run: Run): boolean {
  return run.phase === 'connecting' || run.phase === 'listening' || run.phase === 'finishing';
}
