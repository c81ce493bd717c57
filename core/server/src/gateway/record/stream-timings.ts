import type { EngineEvent } from '@svc-asr/engine/core.ts';
import type { ServerEvent } from '@svc-asr/protocol';
import { DeltaLag } from './delta-lag.ts';
import type { StreamMetrics } from './stream-metrics.ts';
import { StreamRecord, type StreamDetails } from './stream-record.ts';
import type { Ending } from '../rules/stream-state.ts';
import type { StreamTrace } from './stream-trace.ts';

/** Measures one stream: for metrics, for its trace, and for the details that are stored after its end. */
export class StreamTimings {
  readonly #metrics: StreamMetrics;
  readonly #trace: StreamTrace | null;
  readonly #openedAtMs: number;
  readonly #lag = new DeltaLag();
  readonly #record: StreamRecord;
  #readyAtMs = 0;
  #hasDelta = false;
  /** Request times of finals that the engine has not sent yet. */
  readonly #flushedAtMs: number[] = [];

  constructor(input: {
    readonly metrics: StreamMetrics;
    readonly trace: StreamTrace | null;
    readonly openedAtMs: number;
  }) {
    this.#metrics = input.metrics;
    this.#trace = input.trace;
    this.#openedAtMs = input.openedAtMs;
    this.#record = new StreamRecord(input.openedAtMs);
  }

  onAudio(samples: number, arrivedAtMs: number): void {
    this.#lag.onAudio(samples, arrivedAtMs);
    this.#record.onAudio(arrivedAtMs);
  }

  onFlush(nowMs: number): void {
    this.#flushedAtMs.push(nowMs);
    this.#lag.nextUtterance();
  }

  onReset(): void {
    this.#lag.nextUtterance();
  }

  onEngineEvent(event: EngineEvent, nowMs: number): void {
    // The engine answers flushes in order, including those whose final is not sent because the endpoint has no words.
    if (event.type === 'final') this.#onFinal(nowMs);
    if (event.type !== 'delta') return;
    const lagMs = this.#lag.onDelta(event, nowMs);
    if (lagMs === null) return;
    this.#metrics.deltaLag(lagMs);
    this.#record.lagged(lagMs);
  }

  onSend(event: ServerEvent, nowMs: number): void {
    this.#record.sent(event, nowMs);
    if (event.type === 'ready') {
      this.#readyAtMs = nowMs;
      this.#metrics.ready(nowMs - this.#openedAtMs);
      this.#trace?.part('engine.open', nowMs - this.#openedAtMs);
    }
    if (event.type === 'delta' && !this.#hasDelta) {
      this.#hasDelta = true;
      this.#metrics.firstDelta(nowMs - this.#readyAtMs);
    }
  }

  onEnd(ending: Ending, nowMs: number): StreamDetails {
    return this.#record.end(ending, nowMs);
  }

  #onFinal(nowMs: number): void {
    const flushedAtMs = this.#flushedAtMs.shift();
    if (flushedAtMs === undefined) return;
    this.#metrics.final(nowMs - flushedAtMs);
    this.#trace?.part('final', nowMs - flushedAtMs);
  }
}
