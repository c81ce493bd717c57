import type { LostSession } from '@svc-asr/protocol/lost-host.ts';
import type { Deps } from '../deps.ts';
import { sleep } from '../platform/sleep.ts';
import { findLostAudio, requestTakeover } from '../sessions/lost-sessions.ts';
import type { LostAudio } from './rules/lost-audio.ts';

/** Longer than a lease: by then a node that is gone has lost its sessions, which are free. */
const WAIT_MS_MAX = 10_000;
const ASK_EVERY_MS = 500;

/**
 * Resolves with the audio that lost sessions were charged for, when all of them are over. Their nodes are asked to end those
 * that are open. Resolves without it if the database doesn't answer.
 */
export async function awaitLostAudio(
  { db, credentials, clock, log }: Pick<Deps, 'db' | 'credentials' | 'clock' | 'log'>,
  accountId: string,
  lost: readonly LostSession[],
): Promise<readonly LostAudio[]> {
  const ids = lost.map(({ id }) => id);
  const untilMs = clock.monotonicMs() + WAIT_MS_MAX;
  let asked = false;
  for (;;) {
    try {
      const found = await findLostAudio(db, accountId, ids);
      const open = found.filter(({ isOver }) => !isOver);
      if (open.length === 0 || clock.monotonicMs() >= untilMs) return found;
      for (const { sessionId } of asked ? [] : open) {
        const own = lost.find(({ id }) => id === sessionId);
        if (own !== undefined) await requestTakeover({ db, credentials }, accountId, own);
      }
      asked = true;
    } catch (err) {
      if (clock.monotonicMs() >= untilMs) {
        log.warn({ err }, 'The audio of a lost session could not be read.');
        return [];
      }
    }
    await sleep(ASK_EVERY_MS);
  }
}
