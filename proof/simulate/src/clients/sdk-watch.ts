import type { SvcStream } from '../../../../clients/sdk/src/stream/svc-stream.ts';
import type { Said } from './client.ts';
import { scheduler } from '../virtual/scheduler.ts';

/** Failures after which the SDK must try again. It gives up after 45 s at the earliest. */
const RETRIED: ReadonlySet<string> = new Set([
  'connection_lost',
  'internal_error',
  'service_restart',
  'service_restarting',
  'service_unavailable',
]);
const GIVES_UP_MS_MIN = 44_000;

/** Checks what the SDK tells its application. Returns a function that takes the error of a stream that failed. */
export function watchSdk(
  stream: SvcStream,
  said: readonly Said[],
  report: (violation: string) => void,
): (code: string) => void {
  const beganMs = scheduler.nowMs;
  let utterance = 0;
  let shownMs = 0;
  let resets = 0;
  stream.on('delta', (delta) => {
    const resetsNow = said.filter(({ what }) => what === 'reset').length;
    const isReset = resetsNow > resets;
    resets = resetsNow;
    if (!isReset && delta.utterance === utterance && delta.audio_ms < shownMs) {
      report(
        `sdk: a delta of utterance ${utterance} goes back from ${shownMs} to ${delta.audio_ms} ms`,
      );
    }
    utterance = delta.utterance;
    shownMs = delta.audio_ms;
  });
  return (code) => {
    const ms = Math.round(scheduler.nowMs - beganMs);
    if (RETRIED.has(code) && ms < GIVES_UP_MS_MIN) report(`sdk: gives up after ${ms} ms: ${code}`);
  };
}
