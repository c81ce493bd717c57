import { setTimeout as pass } from 'node:timers/promises';
import type { AsrSession } from '@svc-asr/protocol';
import { StreamClient } from '@svc-asr/server/test/stream-client.ts';

const OPEN_WITHIN_MS = 30_000;

/** As clients are told to: a 503 has not spent the credential, so the same one is tried again. */
export async function openStream(url: string, session: AsrSession): Promise<StreamClient> {
  const deadlineMs = performance.now() + OPEN_WITHIN_MS;
  for (;;) {
    try {
      return await StreamClient.ready(session, { url });
    } catch (error) {
      const isBusy = error instanceof Error && error.message.endsWith(' 503');
      if (!isBusy || performance.now() > deadlineMs) throw error;
      await pass(100);
    }
  }
}
