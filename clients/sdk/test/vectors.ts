import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type {
  DeltaEvent,
  FinalEvent,
  SpeechEndedEvent,
  SpeechStartedEvent,
} from '@svc-asr/protocol';
import { lostKey, lostToken } from '@svc-asr/protocol/lost-host.ts';
import { errorFromResponse, SvcError } from '../src/errors.ts';
import { retryWaitMs } from '../src/retry.ts';
import { billed, describeClose } from '../src/stream/close-info.ts';
import { Failover } from '../src/stream/failover.ts';
import { Liveness } from '../src/stream/liveness.ts';
import { SessionClock } from '../src/stream/session-clock.ts';
import { ReplayBuffer, type BufferEntry, type Settled } from '../src/stream/replay-buffer.ts';
import { TranscriptBuilder } from '../src/stream/transcript.ts';

/** Runs the test vectors shared by the TypeScript and Python SDKs. */

export interface Vector {
  readonly title: string;
  readonly expect: unknown;
}

/** The files of core/protocol/vectors. */
interface Vectors {
  readonly errors: ErrorCase;
  readonly retry: RetryCase;
  readonly close: CloseCase;
  readonly failover: FailoverCase;
  readonly liveness: LivenessCase;
  readonly lost: LostCase;
  readonly replay: ReplayCase;
}

export function readVectors<K extends keyof Vectors>(name: K): readonly (Vectors[K] & Vector)[] {
  const path = join(import.meta.dirname, '../../../core/protocol/vectors', `${name}.json`);
  const file: { cases: (Vectors[K] & Vector)[] } = JSON.parse(readFileSync(path, 'utf8'));
  return file.cases;
}

export interface ErrorCase {
  readonly status: number;
  readonly body: unknown;
  readonly request_id: string | null;
  readonly retry_after: string | null;
}

export function errorOutcome(input: ErrorCase) {
  const { status, body, request_id: requestId, retry_after: retryAfter } = input;
  const error = errorFromResponse({ status, body, requestId, retryAfter });
  return {
    code: error.code,
    message: error.message,
    retryable: error.retryable,
    type: error.type,
    request_id: error.requestId,
    retry_after_ms: error.retryAfterMs,
  };
}

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly retry_after?: string | null;
}

function refusalOf({ status, code, retry_after: retryAfter = null }: Refusal): SvcError {
  const body = { error: { type: 'a_type', code, message: 'A sentence.', request_id: 'r2' } };
  return errorFromResponse({ status, body, requestId: null, retryAfter });
}

export interface RetryCase {
  readonly error: Refusal;
  readonly failures: number;
  readonly waited_ms: number;
  readonly random: number;
  readonly just_closed?: boolean;
  readonly paced?: number;
}

export function retryOutcome(input: RetryCase): number | null {
  const { failures, paced = 0, waited_ms: waitedMs, just_closed: hasJustClosed = false } = input;
  const state = { failures, paced, waitedMs, hasJustClosed };
  const limits = { retriesMax: 6, waitMsMax: 90_000 };
  const waitMs = retryWaitMs(refusalOf(input.error), state, limits, () => input.random);
  return waitMs === null ? null : Math.round(waitMs);
}

export interface CloseCase {
  readonly end: {
    readonly code: number;
    readonly reason: string;
    readonly refusal: Refusal | null;
  };
  readonly opened: boolean;
  readonly fatal: {
    readonly code: string;
    readonly message: string;
    readonly retryable: boolean;
    readonly request_id: string;
  } | null;
}

export function closeOutcome({ end, opened, fatal }: CloseCase) {
  const refusal = end.refusal === null ? null : refusalOf(end.refusal);
  const event =
    fatal === null
      ? null
      : ({ type: 'error', fatal: true, session_id: 'a session', ...fatal } as const);
  const info = describeClose(
    { ...end, refusal },
    { sessionId: 'a session', url: 'wss://x', opened, fatal: event },
  );
  return {
    code: info.code,
    reason: info.reason,
    retryable: info.retryable,
    retry_after_ms: info.retryAfterMs,
    session_id: info.sessionId,
    request_id: info.requestId,
    billed: billed(info),
  };
}

type FailoverStep =
  | { readonly do: 'close'; readonly code: number }
  | { readonly do: 'end'; readonly ready_for_ms: number }
  | { readonly do: 'final' }
  | { readonly do: 'handover' }
  | {
      readonly do: 'error';
      readonly retryable: boolean | null;
      readonly retry_after_ms: number | null;
    };
export interface FailoverCase {
  readonly steps: readonly FailoverStep[];
}

/** The wait after each step that has one. */
export function failoverOutcome({ steps }: FailoverCase): (number | null)[] {
  const failover = new Failover();
  const waits: (number | null)[] = [];
  for (const step of steps) {
    switch (step.do) {
      case 'close': {
        const known = {
          sessionId: 's',
          url: 'wss://asr.example.org/v1/asr/stream',
          opened: true,
          fatal: null,
        };
        const close = describeClose({ code: step.code, reason: '', refusal: null }, known);
        waits.push(failover.waitMsAfterClose(close));
        break;
      }
      case 'end':
        failover.onEnd(step.ready_for_ms);
        break;
      case 'final':
        failover.onProgress();
        break;
      case 'handover':
        waits.push(failover.waitMsAfterHandover());
        break;
      case 'error':
        waits.push(failover.waitMsAfterError(unavailable(step)));
        break;
    }
  }
  return waits;
}

function unavailable(step: { retryable: boolean | null; retry_after_ms: number | null }): Error {
  if (step.retryable === null) return new TypeError('fetch failed');
  const { retryable, retry_after_ms: retryAfterMs } = step;
  return new SvcError({ code: 'a_code', message: 'A sentence.', retryable, retryAfterMs });
}

type ReplayStep =
  | { readonly do: 'session'; readonly id: string }
  | { readonly do: 'write'; readonly bytes: number }
  | { readonly do: 'skip'; readonly ms: number }
  | { readonly do: 'flush'; readonly id: number }
  | { readonly do: 'reset'; readonly id: number }
  | { readonly do: 'next'; readonly samples_max: number | null }
  | { readonly do: 'delta'; readonly event: DeltaEvent }
  | { readonly do: 'final'; readonly event: FinalEvent }
  | { readonly do: 'speech'; readonly event: SpeechStartedEvent | SpeechEndedEvent }
  | { readonly do: 'reset_ack' }
  | { readonly do: 'end_session'; readonly billed: 'as_told' | 'nothing' | 'unknown' };
export interface ReplayCase {
  readonly steps: readonly ReplayStep[];
}

interface LostCase {
  readonly random: string;
  readonly session: Parameters<typeof lostToken>[0];
}

export function lostOutcome({ random, session }: LostCase) {
  return { token: lostToken(session), key: lostKey(random, session) };
}

interface LivenessCase {
  readonly open_ms: number;
  readonly steps: readonly (
    | { readonly do: 'sent'; readonly audio_ms: number }
    | { readonly do: 'event'; readonly at: number; readonly answer: boolean }
    | { readonly do: 'checks' | 'suspended'; readonly to: number }
  )[];
}

/** What the rules say, and when. */
export function livenessOutcome({ open_ms: openMs, steps }: LivenessCase): [number, string][] {
  const liveness = new Liveness(0, openMs);
  const said: [number, string][] = [];
  let now = 0;
  const note = (what: string | null): void => void (what !== null && said.push([now, what]));
  for (const step of steps) {
    if (step.do === 'sent') liveness.onSent(step.audio_ms);
    else if (step.do === 'event') {
      now = step.at;
      note(liveness.onEvent(now, step.answer));
    } else if (step.do === 'suspended') {
      now = step.to;
      note(liveness.check(now));
    } else {
      for (now = Math.floor(now / 100) * 100 + 100; now <= step.to; now += 100) {
        note(liveness.check(now));
      }
      now = step.to;
    }
  }
  return said;
}

/** Returns the result of each step and the final transcript. */
export function replayOutcome({ steps }: ReplayCase) {
  const replay = new Replay();
  const returned = steps.map((step) => replay.take(step) ?? null);
  const { text, finals, sessions } = replay.transcript.transcript;
  const receipts = sessions.map((each) => [each.sessionId, each.billableMs]);
  return { returned, transcript: { text, finals: finals.length, receipts } };
}

class Replay {
  readonly transcript = new TranscriptBuilder();
  readonly #buffer = new ReplayBuffer();
  #clock = new SessionClock();

  take(step: ReplayStep): unknown {
    switch (step.do) {
      case 'session':
        this.#clock = new SessionClock();
        this.transcript.beginSession(step.id);
        return this.#buffer.rewind();
      case 'write':
        this.#buffer.write(new Uint8Array(step.bytes));
        return this.#buffer.unsentBytes;
      case 'skip':
        return this.#buffer.skip(step.ms * 16);
      case 'flush':
        return this.#buffer.flush(step.id);
      case 'reset':
        return this.#buffer.reset(step.id) === 'to_send';
      case 'next':
        return this.#next(step.samples_max ?? Infinity);
      case 'delta':
        return this.#buffer.isResetPending
          ? null
          : (this.transcript.onDelta(step.event)?.text ?? null);
      case 'final':
        return this.#onFinal(step.event);
      case 'speech':
        return this.#onSpeech(step.event);
      case 'reset_ack':
        return this.#buffer.settleReset();
      case 'end_session':
        return this.transcript.endSession(step.billed);
    }
  }

  #next(samplesMax: number) {
    const entry = this.#buffer.next(samplesMax);
    if (entry?.kind === 'audio') this.#clock.advance(entry.at, entry.pcm.byteLength / 2);
    return entry === undefined ? null : present(entry);
  }

  #onSpeech(event: SpeechStartedEvent | SpeechEndedEvent) {
    if (this.#buffer.isResetPending) return null;
    const speech = this.transcript.onSpeech(event, this.#clock);
    return speech === null ? null : { utterance: speech.utterance, audio_ms: speech.audio_ms };
  }

  #onFinal(event: FinalEvent) {
    if (event.reason === 'draining') {
      this.transcript.onDraining(event);
      return null;
    }
    const { isResetPending } = this.#buffer;
    const settled = this.#settle(event);
    if (settled === null) return null;
    // The final belongs to audio that the caller dropped.
    if (isResetPending) return { answered: settled.answered };
    const final = this.transcript.onFinal(event, settled, this.#clock);
    const { text, utterance, start_ms, end_ms, words, billable_ms } = final;
    return { answered: settled.answered, text, utterance, start_ms, end_ms, words, billable_ms };
  }

  #settle(event: FinalEvent): Settled | null {
    if (event.reason === 'flush') return this.#buffer.settleFlush();
    if (event.reason === 'endpoint') return this.#buffer.settleUpTo(event.end_ms * 16);
    return this.#buffer.settleEnd(event.end_ms * 16);
  }
}

function present(entry: BufferEntry) {
  return entry.kind === 'audio'
    ? { kind: entry.kind, at: entry.at, bytes: entry.pcm.byteLength }
    : { kind: entry.kind, id: entry.id };
}
