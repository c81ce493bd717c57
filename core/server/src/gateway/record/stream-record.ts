import type { ServerEvent } from '@svc-asr/protocol';
import type { SessionDetailsRow } from '../../nodes/session-details.ts';
import type { ClientDescription } from '../upgrade/describe-client.ts';
import type { Ending } from '../rules/stream-state.ts';

/** Audio that arrives this much later than the audio before it counts as a gap. */
const GAP_MS = 1_000;
/** Enough for exact percentiles of most streams. Longer ones keep every second, fourth ... lag. */
const LAGS_MAX = 256;
const HINTS_MAX = 16;

/** How one stream went: times since its upgrade, counts and codes. Never text or audio. */
export interface StreamDetails {
  readonly readyMs: number | null;
  readonly firstWordsMs: number | null;
  readonly firstFinalMs: number | null;
  readonly lastFinalMs: number | null;
  readonly endedMs: number;
  readonly finals: number;
  readonly closeCode: number;
  readonly closeReason: string;
  readonly deltaLagP50Ms: number | null;
  readonly deltaLagP95Ms: number | null;
  readonly gaps: number;
  readonly longestGapMs: number;
  readonly hints: readonly string[];
  readonly audioHint: string | null;
}

/** Collects the details of one stream in memory, so that they can be stored once at its end. */
export class StreamRecord {
  readonly #openedAtMs: number;
  #readyMs: number | null = null;
  #firstWordsMs: number | null = null;
  #firstFinalMs: number | null = null;
  #lastFinalMs: number | null = null;
  #finals = 0;
  #audioAtMs: number | null = null;
  #gaps = 0;
  #longestGapMs = 0;
  #lags: number[] = [];
  #lagStride = 1;
  #lagsSeen = 0;
  readonly #hints = new Set<string>();
  #audioHint: string | null = null;

  constructor(openedAtMs: number) {
    this.#openedAtMs = openedAtMs;
  }

  sent(event: ServerEvent, nowMs: number): void {
    const sinceMs = Math.round(nowMs - this.#openedAtMs);
    if (event.type === 'ready') this.#readyMs ??= sinceMs;
    // Audio that comes at once may be answered with a final alone.
    const hasWords = 'text' in event && event.text !== '';
    if (hasWords) this.#firstWordsMs ??= sinceMs;
    if (event.type === 'final') {
      this.#finals += 1;
      this.#firstFinalMs ??= sinceMs;
      this.#lastFinalMs = sinceMs;
    }
    if (event.type === 'status' || event.type === 'error') this.#hint(event.code);
    if (event.type === 'status') this.#audioHint ??= event.hint ?? null;
  }

  onAudio(nowMs: number): void {
    const gapMs = this.#audioAtMs === null ? 0 : Math.round(nowMs - this.#audioAtMs);
    if (gapMs >= GAP_MS) this.#gaps += 1;
    this.#longestGapMs = Math.max(this.#longestGapMs, gapMs);
    this.#audioAtMs = nowMs;
  }

  lagged(lagMs: number): void {
    this.#lagsSeen += 1;
    if (this.#lagsSeen % this.#lagStride !== 0) return;
    this.#lags.push(lagMs);
    if (this.#lags.length < LAGS_MAX) return;
    this.#lags = this.#lags.filter((_, at) => at % 2 === 1);
    this.#lagStride *= 2;
  }

  end(ending: Ending, nowMs: number): StreamDetails {
    const lags = this.#lags.toSorted((a, b) => a - b);
    return {
      readyMs: this.#readyMs,
      firstWordsMs: this.#firstWordsMs,
      firstFinalMs: this.#firstFinalMs,
      lastFinalMs: this.#lastFinalMs,
      endedMs: Math.round(nowMs - this.#openedAtMs),
      finals: this.#finals,
      closeCode: ending.closeCode,
      closeReason: ending.reason,
      deltaLagP50Ms: percentile(lags, 0.5),
      deltaLagP95Ms: percentile(lags, 0.95),
      gaps: this.#gaps,
      longestGapMs: this.#gaps === 0 ? 0 : this.#longestGapMs,
      hints: [...this.#hints],
      audioHint: this.#audioHint,
    };
  }

  #hint(code: string): void {
    if (this.#hints.size < HINTS_MAX) this.#hints.add(code);
  }
}

function percentile(sorted: readonly number[], share: number): number | null {
  const value = sorted[Math.ceil(sorted.length * share) - 1];
  return value === undefined ? null : Math.round(value);
}

/** The details of a stream in the names of the database's columns. */
export function detailsRow(
  stream: StreamDetails &
    ClientDescription & {
      readonly accountId: string;
      readonly sessionId: string;
      readonly requestId: string;
    },
): SessionDetailsRow {
  return {
    account_id: stream.accountId,
    session_id: stream.sessionId,
    request_id: stream.requestId,
    origin: stream.origin,
    client: stream.client,
    ready_ms: stream.readyMs,
    first_words_ms: stream.firstWordsMs,
    first_final_ms: stream.firstFinalMs,
    last_final_ms: stream.lastFinalMs,
    ended_ms: stream.endedMs,
    finals: stream.finals,
    close_code: stream.closeCode,
    close_reason: stream.closeReason,
    delta_lag_p50_ms: stream.deltaLagP50Ms,
    delta_lag_p95_ms: stream.deltaLagP95Ms,
    gaps: stream.gaps,
    longest_gap_ms: stream.longestGapMs,
    hints: stream.hints,
    audio_hint: stream.audioHint,
  };
}
