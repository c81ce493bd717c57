import type {
  ConfirmerCounts,
  VoiceConfirmer,
  VoiceListener,
} from '../voice-activity/confirmer.ts';
import { SileroChild } from './silero-child.ts';
import { SileroListener } from './silero-listener.ts';

/** The audio of all streams is examined together, at most this often. */
const TICK_MS = 32;
const STREAMS_PER_BATCH_MAX = 128;
/** Audio waits this long for its verdict, besides its own duration. Then the level alone decides. */
const LATE_MS = 300;
const WATCH_MS = 100;
/** A child that doesn't answer for this long is replaced. */
const HUNG_MS = 10_000;
const START_MS_MAX = 60_000;
const RESTART_MS_MIN = 1_000;
const RESTART_MS_MAX = 60_000;

export interface SileroOptions {
  /** How long audio waits for its verdict, besides its own duration. */
  readonly lateMs?: number;
  /** Called when the child is lost. Streams go on with the level detector until the next one is ready. */
  readonly onLost?: (info: { readonly restartInMs: number }) => void;
}

interface Child {
  readonly process: SileroChild;
  readonly startedAtMs: number;
  state: 'starting' | 'idle' | 'asked';
  asked: readonly SileroListener[];
  askedAtMs: number;
}

/** Silero VAD in a child process, which starts with the first stream that needs it. */
export class SileroConfirmer implements VoiceConfirmer {
  readonly #options: SileroOptions;
  readonly #lateMs: number;
  readonly #counts = { confirmed: 0, late: 0, absent: 0, restarts: 0 };
  readonly #waiting = new Set<SileroListener>();
  readonly #ended: number[] = [];
  #child: Child | null = null;
  #isStarted = false;
  #isClosed = false;
  #restartMs = RESTART_MS_MIN;
  #restarting: NodeJS.Timeout | undefined;
  #watching: NodeJS.Timeout | undefined;
  #asking: NodeJS.Timeout | undefined;
  #lastId = 0;

  constructor(options: SileroOptions = {}) {
    this.#options = options;
    this.#lateMs = options.lateMs ?? LATE_MS;
  }

  open(startSample: number): VoiceListener {
    if (!this.#isStarted) this.#start();
    return new SileroListener({
      id: ++this.#lastId,
      startSample,
      isListening: () => this.#isListening(),
      onWaiting: (listener) => {
        this.#waiting.add(listener);
        this.#askSoon();
      },
      onResult: (result) => (this.#counts[result] += 1),
      onClose: (listener) => {
        this.#waiting.delete(listener);
        // A child that isn't ready knows no stream.
        if (this.pid !== null) this.#ended.push(listener.id);
      },
    });
  }

  /** Null while it starts. */
  get pid(): number | null {
    return this.#child === null || this.#child.state === 'starting'
      ? null
      : (this.#child.process.pid ?? null);
  }

  counts(): ConfirmerCounts {
    return { ...this.#counts };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#restarting);
    clearInterval(this.#watching);
    const child = this.#child;
    this.#lose();
    await child?.process.close();
  }

  /** False also while an answer is late, so that only the first audio waits for a stalled child. */
  #isListening(): boolean {
    const child = this.#child;
    if (child === null || child.state === 'starting') return false;
    return child.state === 'idle' || performance.now() - child.askedAtMs < this.#lateMs;
  }

  #start(): void {
    this.#isStarted = true;
    const child: Child = {
      process: new SileroChild({
        onReady: () => {
          child.state = 'idle';
          this.#ended.length = 0;
          this.#askSoon();
        },
        onAnswer: (probabilities) => this.#take(child, probabilities),
        onGone: () => this.#onGone(child),
      }),
      startedAtMs: performance.now(),
      state: 'starting',
      asked: [],
      askedAtMs: 0,
    };
    this.#child = child;
    clearInterval(this.#watching);
    this.#watching = setInterval(() => this.#watch(), WATCH_MS).unref();
  }

  /** Everything that arrives until the next tick is asked together. After a pause it is asked at once. */
  #askSoon(): void {
    const child = this.#child;
    if (this.#asking !== undefined || child?.state !== 'idle') return;
    const inMs = Math.max(0, child.askedAtMs + TICK_MS - performance.now());
    this.#asking = setTimeout(() => {
      this.#asking = undefined;
      this.#ask();
    }, inMs);
  }

  #ask(): void {
    const child = this.#child;
    if (child?.state !== 'idle') return;
    const asked: SileroListener[] = [];
    const parts = [];
    for (const listener of this.#waiting) {
      if (asked.length === STREAMS_PER_BATCH_MAX) break;
      this.#waiting.delete(listener);
      const part = listener.ask();
      if (part === null) continue;
      asked.push(listener);
      parts.push({ stream: listener.id, ...part });
    }
    if (asked.length === 0) return;
    child.state = 'asked';
    child.asked = asked;
    child.askedAtMs = performance.now();
    child.process.ask({ parts, closed: this.#ended.splice(0) });
  }

  #take(child: Child, probabilities: readonly Float32Array[]): void {
    if (child !== this.#child || child.state !== 'asked') return;
    const { asked } = child;
    child.state = 'idle';
    child.asked = [];
    for (const [at, listener] of asked.entries()) {
      listener.answer(probabilities[at] ?? new Float32Array());
      if (listener.isWaiting) this.#waiting.add(listener);
    }
    if (this.#waiting.size > 0) this.#askSoon();
  }

  #watch(): void {
    const child = this.#child;
    if (child === null) return;
    for (const listener of new Set([...child.asked, ...this.#waiting])) {
      if (listener.overdueMs(this.#lateMs) > 0) listener.abandon('late');
    }
    const isHung = child.state === 'asked' && performance.now() - child.askedAtMs > HUNG_MS;
    const isStuck =
      child.state === 'starting' && performance.now() - child.startedAtMs > START_MS_MAX;
    if (isHung || isStuck) child.process.kill();
  }

  #onGone(child: Child): void {
    if (child !== this.#child || this.#isClosed) return;
    this.#lose();
    if (performance.now() - child.startedAtMs > RESTART_MS_MAX) this.#restartMs = RESTART_MS_MIN;
    const restartInMs = this.#restartMs;
    this.#restartMs = Math.min(RESTART_MS_MAX, 2 * restartInMs);
    this.#counts.restarts += 1;
    this.#options.onLost?.({ restartInMs });
    this.#restarting = setTimeout(() => this.#start(), restartInMs).unref();
  }

  /** The audio that waits goes on without verdicts. */
  #lose(): void {
    const listeners = new Set([...(this.#child?.asked ?? []), ...this.#waiting]);
    this.#child = null;
    this.#waiting.clear();
    clearTimeout(this.#asking);
    this.#asking = undefined;
    for (const listener of listeners) listener.abandon('absent');
  }
}
