import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SvcError, type ModelId, type SvcClient } from '@svc-asr/sdk';
import type { GetSession } from '@svc-asr/sdk/stream';

/** The SDK allows 120 s for one session. */
const WAIT_MS_MAX = 90_000;
const WAIT_MS = { least: 500, most: 5_000 } as const;
const AUDIO_SECONDS = 300;

/** Waits until the service has a session for a leg, and reports why it waits. The leg's audio is queued meanwhile. */
export function reserveSession(input: {
  readonly client: SvcClient;
  readonly model: ModelId;
  readonly onWaiting?: (error: SvcError) => void;
  readonly waitMsMax?: number;
}): (request: Pick<Parameters<GetSession>[0], 'signal'>) => ReturnType<GetSession> {
  const { waitMsMax = WAIT_MS_MAX } = input;
  return async ({ signal }) => {
    const began = performance.now();
    // One key for all attempts: a retry after a lost response must find the first reservation.
    const options = { signal, idempotencyKey: randomUUID() };
    for (;;) {
      try {
        const params = { model: input.model, maxAudioSeconds: AUDIO_SECONDS };
        return await input.client.sessions.create(params, options);
      } catch (error) {
        if (!(error instanceof SvcError) || !error.retryable || signal.aborted) throw error;
        const waitMs = clamp(error.retryAfterMs ?? WAIT_MS.least);
        if (performance.now() - began + waitMs > waitMsMax) throw error;
        input.onWaiting?.(error);
        await sleep(waitMs, undefined, { signal });
      }
    }
  };
}

function clamp(ms: number): number {
  return Math.min(WAIT_MS.most, Math.max(WAIT_MS.least, ms));
}
