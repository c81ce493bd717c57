import type { Log } from './log.ts';

/**
 * Does it now and again and again, one at a time, beside the requests. While it fails the last result stays, and the
 * log says so once: whoever asks the database meets the same trouble and is told there. Resolves after the first time;
 * what it gives ends it.
 */
export async function keepFresh(input: {
  readonly everyMs: number;
  readonly refresh: () => Promise<void>;
  readonly log: Log;
  /** What the log says when it fails. */
  readonly failure: string;
}): Promise<() => Promise<void>> {
  let isAway = false;
  const refresh = async (): Promise<void> => {
    try {
      await input.refresh();
      isAway = false;
    } catch (error) {
      if (!isAway) input.log.warn({ err: error }, input.failure);
      isAway = true;
    }
  };
  let refreshing = refresh();
  const timer = setInterval(() => {
    refreshing = refreshing.then(refresh);
  }, input.everyMs);
  await refreshing;
  return async () => {
    clearInterval(timer);
    await refreshing;
  };
}
