import { sleep } from './sleep.ts';
import type { Log } from './observe/log.ts';

/** Each wait is up to a tenth shorter or longer, so that processes started together drift apart. */
const JITTER = 0.1;
/** How long stop() waits for a run under way. Its result is discarded after that. */
const STOP_MS = 2_000;

export interface PeriodicOptions {
  readonly everyMs: number;
  /** The signal is aborted by stop(). */
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly log: Log;
  /** The log line for a failed run, written once until a run succeeds again. */
  readonly failure: string;
  readonly random?: () => number;
}

export interface PeriodicTask {
  /** Settles after the first run, whether it succeeded or failed. */
  readonly firstRun: Promise<void>;
  /** Runs once more without waiting for the timer, after the run under way. */
  runNow(): Promise<void>;
  /** Starts no further run. Waits for the run under way, for two seconds at most. */
  stop(): Promise<void>;
}

/**
 * Runs a task now and then every `everyMs`, counted from the end of the run before, so runs never overlap: a task that
 * hangs delays the next run instead of queueing up behind it.
 */
export function startPeriodic(options: PeriodicOptions): PeriodicTask {
  const { everyMs, run, log, failure, random = Math.random } = options;
  const stopping = new AbortController();
  let isFailing = false;
  let running: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  async function runOnce(): Promise<void> {
    if (stopping.signal.aborted) return;
    try {
      await run(stopping.signal);
      isFailing = false;
    } catch (error) {
      if (!isFailing && !stopping.signal.aborted) log.warn({ err: error }, failure);
      isFailing = true;
    }
  }
  function runNow(): Promise<void> {
    clearTimeout(timer);
    running = running.then(runOnce).then(schedule);
    return running;
  }
  function schedule(): void {
    clearTimeout(timer);
    if (stopping.signal.aborted) return;
    const waitMs = everyMs * (1 + JITTER * (2 * random() - 1));
    timer = setTimeout(() => void runNow(), waitMs);
  }

  return {
    firstRun: runNow(),
    runNow,
    async stop() {
      stopping.abort();
      clearTimeout(timer);
      await Promise.race([running, sleep(STOP_MS)]);
    },
  };
}
