import type {
  DeltaEvent,
  FinalEvent,
  FinalReason,
  NumberEntity,
  TurnEagerEvent,
} from '@svc-asr/protocol';
import type { ModelId } from '@svc-asr/protocol/constants.ts';
import type { PlaygroundReceipt } from '@svc-asr/protocol/console/console.ts';
import { shownWords } from '@svc-asr/protocol/numbers/shown-words.ts';
import type { KeytermsAnswer } from './keyterms.ts';
import type { Ages } from './word-ages.ts';

/** One line of the transcript, for one turn. */
export type Turn = readonly TurnWord[];

export interface TurnWord {
  readonly text: string;
  /** From the start of the run, over all of its sessions. */
  readonly start_ms: number;
  readonly end_ms: number;
  /** Confidence from 0 to 1. Null if the recogniser provides none. */
  readonly confidence: number | null;
  /** The words of a number that is shown as digits. */
  readonly said?: string;
}

/** The state of one playground run, from the click to the receipt. A pure reducer. */
export interface Run {
  readonly phase: 'idle' | 'connecting' | 'listening' | 'finishing' | 'done' | 'failed';
  /** Why it ended. Reaching the limit is not a failure. */
  readonly ending: 'stopped' | 'limit' | null;
  /** What the ledger says about the last session. Only the ledger knows the charge. */
  readonly ledger: 'unasked' | 'asking' | 'settled' | 'pending';
  readonly source: 'microphone' | 'file';
  /** The transcript stays in this language when another one is chosen. */
  readonly model: ModelId | null;
  readonly turns: readonly Turn[];
  /** What ended each turn. */
  readonly reasons: readonly FinalReason[];
  /** The current utterance, and how many of its characters are stable. */
  readonly text: string;
  readonly stableChars: number;
  /** The whole text of an utterance that may have ended. Null while nothing says so. */
  readonly eagerText: string | null;
  /** Audio of the current session: captured, and covered by text. */
  readonly sentMs: number;
  readonly audioMs: number;
  readonly reservedMs: number;
  /** Earlier sessions of this run, which was continued. */
  readonly earlierMs: number;
  readonly earlierChargedMs: number;
  /** The charge of the last session. Null until the ledger has settled it. */
  readonly chargedMs: number | null;
  /** Credit left beside the reservation, then after the settlement. Null before there is a session. */
  readonly remainingMs: number | null;
  readonly ages: Ages | null;
  /** Seconds of audio per second, for a file. */
  readonly speed: number | null;
  readonly problem: { readonly code: string; readonly message: string } | null;
  /** Whether the model listens for keyterms. Null until its stream is ready. */
  readonly takesKeyterms: boolean | null;
  /** Whether the model reports eager ends. Null until it has been asked. */
  readonly reportsEager: boolean | null;
  /** What the service made of the keyterms. Null without any. */
  readonly keyterms: KeytermsAnswer | null;
}

export type RunEvent =
  | { readonly type: 'reset' }
  | {
      readonly type: 'started';
      readonly model: ModelId;
      readonly source: Run['source'];
      /** Whether this session continues the transcript. */
      readonly continues: boolean;
    }
  | { readonly type: 'reserved'; readonly remainingMs: number; readonly reservedMs: number }
  | { readonly type: 'ready'; readonly takesKeyterms: boolean }
  | { readonly type: 'keyterms'; readonly answer: KeytermsAnswer }
  | { readonly type: 'reports_eager'; readonly reportsEager: boolean }
  | { readonly type: 'sent'; readonly sentMs: number }
  | {
      readonly type: 'delta';
      readonly delta: DeltaEvent;
      /** How much audio of the session the text covers. */
      readonly audioMs: number;
    }
  | { readonly type: 'eager'; readonly eager: TurnEagerEvent }
  | { readonly type: 'resumed' }
  | {
      readonly type: 'final';
      readonly final: FinalEvent;
      readonly ages: Ages | null;
      readonly speed: number | null;
    }
  | { readonly type: 'stopping' }
  | { readonly type: 'ended'; readonly ending: 'stopped' | 'limit' }
  | { readonly type: 'failed'; readonly code: string; readonly message: string }
  | { readonly type: 'asking' }
  | { readonly type: 'settled'; readonly receipt: PlaygroundReceipt }
  /** The ledger gave no answer in time. */
  | { readonly type: 'pending' };

export const IDLE: Run = {
  phase: 'idle',
  ending: null,
  ledger: 'unasked',
  source: 'microphone',
  model: null,
  turns: [],
  reasons: [],
  text: '',
  stableChars: 0,
  eagerText: null,
  sentMs: 0,
  audioMs: 0,
  reservedMs: 0,
  earlierMs: 0,
  earlierChargedMs: 0,
  chargedMs: null,
  remainingMs: null,
  ages: null,
  speed: null,
  problem: null,
  takesKeyterms: null,
  reportsEager: null,
  keyterms: null,
};

export function follow(run: Run, event: RunEvent): Run {
  switch (event.type) {
    case 'reset':
      return IDLE;
    case 'started':
      return begin(run, event);
    case 'reserved':
      return { ...run, remainingMs: event.remainingMs, reservedMs: event.reservedMs };
    case 'ready':
      return {
        ...run,
        phase: run.phase === 'connecting' ? 'listening' : run.phase,
        takesKeyterms: event.takesKeyterms,
      };
    case 'keyterms':
      return { ...run, keyterms: event.answer };
    case 'reports_eager':
      return { ...run, reportsEager: event.reportsEager };
    case 'sent':
      return { ...run, sentMs: event.sentMs };
    case 'delta':
      return {
        ...run,
        text: event.delta.text,
        stableChars: event.delta.stable_chars,
        audioMs: Math.max(run.audioMs, event.audioMs),
      };
    case 'eager':
      return { ...run, eagerText: event.eager.text_formatted ?? event.eager.text };
    case 'resumed':
      return { ...run, eagerText: null };
    case 'final':
      return {
        ...run,
        ...(event.final.text === '' ? {} : added(run, event.final)),
        text: '',
        stableChars: 0,
        eagerText: null,
        audioMs: event.final.total_audio_ms,
        ages: event.ages ?? run.ages,
        speed: event.speed ?? run.speed,
      };
    case 'stopping':
      return run.phase === 'failed' ? run : { ...run, phase: 'finishing' };
    case 'ended':
      return run.phase === 'failed' ? run : { ...run, phase: 'done', ending: event.ending };
    case 'failed':
      return {
        ...run,
        phase: 'failed',
        eagerText: null,
        problem: { code: event.code, message: event.message },
      };
    case 'asking':
      return { ...run, ledger: 'asking' };
    case 'settled':
      return {
        ...run,
        ledger: 'settled',
        audioMs: event.receipt.audio_ms,
        chargedMs: event.receipt.billable_ms,
        remainingMs: event.receipt.available_ms,
      };
    case 'pending':
      return { ...run, ledger: 'pending' };
  }
}

function begin(run: Run, event: Extract<RunEvent, { type: 'started' }>): Run {
  const { model, source } = event;
  // The fields must not change back while the same model connects again.
  const { takesKeyterms, reportsEager } = model === run.model ? run : IDLE;
  const fresh: Run = { ...IDLE, phase: 'connecting', model, source, takesKeyterms, reportsEager };
  if (!event.continues) return fresh;
  return {
    ...fresh,
    turns: run.turns,
    reasons: run.reasons,
    earlierMs: run.earlierMs + run.audioMs,
    earlierChargedMs: run.earlierChargedMs + (run.chargedMs ?? 0),
    ages: run.ages,
    speed: run.speed,
  };
}

function added(run: Run, final: FinalEvent): Pick<Run, 'turns' | 'reasons'> {
  return {
    turns: [...run.turns, turnOf(run, final)],
    reasons: [...run.reasons, final.reason],
  };
}

function turnOf(run: Run, final: FinalEvent): Turn {
  return shownWords(final).map((word) => ({
    text: word.text,
    start_ms: run.earlierMs + word.start_ms,
    end_ms: run.earlierMs + word.end_ms,
    confidence: word.confidence ?? null,
    ...('kind' in word ? { said: saidAs(word, final) } : {}),
  }));
}

function saidAs({ first_word, end_word }: NumberEntity, { words }: FinalEvent): string {
  return words
    .slice(first_word, end_word)
    .map(({ text }) => text)
    .join(' ');
}

export function isRunning(run: Run): boolean {
  return run.phase === 'connecting' || run.phase === 'listening' || run.phase === 'finishing';
}

/** What the ledger would charge for the current session, if it ended now. */
function chargeSoFarMs(run: Run): number {
  return Math.ceil(run.audioMs / 1_000) * 1_000;
}

/** Charged so far, over all sessions of the run. */
export function estimateMs(run: Run): number {
  return run.earlierChargedMs + chargeSoFarMs(run);
}

/** Credit that would be left if the run ended now. Null while only the ledger knows. */
export function leftMs(run: Run): number | null {
  if (run.remainingMs === null || run.ledger === 'settled') return run.remainingMs;
  return isRunning(run) ? run.remainingMs + run.reservedMs - chargeSoFarMs(run) : null;
}

/** How much of the session's limit is used. A file is sent faster than it is recognised. */
export function usedMs(run: Run): number {
  return Math.min(run.source === 'file' ? run.audioMs : run.sentMs, run.reservedMs);
}

/** On synthetic speech, nearly half of the words below it are wrong, and 1 in 20 above it (core/models/MODEL_CARD.md). */
const UNCERTAIN_BELOW = 0.6;

/** The mean over all words, or null if the recogniser provides none. */
export function meanConfidence(turn: Turn): number | null {
  const known = turn.flatMap(({ confidence }) => (confidence === null ? [] : [confidence]));
  if (known.length === 0) return null;
  return known.reduce((sum, confidence) => sum + confidence, 0) / known.length;
}

export function isUncertain({ confidence }: TurnWord): boolean {
  return confidence !== null && confidence < UNCERTAIN_BELOW;
}
