import { setTimeout as sleep } from 'node:timers/promises';
import type { AsrSession } from '@svc-asr/protocol';
import { StreamClient } from '@svc-asr/testing/service/stream-client.ts';

const OPEN_WITHIN_MS = 30_000;

/** Retries with the same credential after a 503, which does not spend it. */
export async function openStream(url: string, session: AsrSession): Promise<StreamClient> {
  const deadlineMs = performance.now() + OPEN_WITHIN_MS;
  for (;;) {
    try {
      return await StreamClient.ready(session, { url });
    } catch (error) {
      const isBusy = error instanceof Error && error.message.endsWith(' 503');
      if (!isBusy || performance.now() > deadlineMs) throw error;
      await sleep(100);
    }
  }
}
