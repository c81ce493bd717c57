import type { Queryable } from '../platform/database/db.ts';
import type { Log } from '../platform/observe/log.ts';
import { startPeriodic } from '../platform/periodic.ts';
import type { NodeLease } from './node-lease.ts';

/** GET /v1/usage guarantees figures at most 5 s old. */
const REPORT_EVERY_MS = 2_000;

/** Accepted samples of every open stream, by session. */
export type LiveAudio = ReadonlyMap<string, number>;

/**
 * Reports the accepted audio of all streams of this node in one statement, every two seconds while something changed.
 * Streams themselves write nothing. Returns a function that stops the reports.
 */
export function startLiveAudioReports(input: {
  readonly db: Queryable;
  readonly node: Pick<NodeLease, 'isHeld' | 'holder'>;
  readonly read: () => LiveAudio;
  readonly log: Log;
}): () => Promise<void> {
  let reported: LiveAudio = new Map();
  const task = startPeriodic({
    everyMs: REPORT_EVERY_MS,
    log: input.log,
    failure: 'The accepted audio of open streams could not be reported.',
    async run() {
      const current = input.read();
      if (isSame(current, reported) || !input.node.isHeld) return;
      const { id, epoch } = input.node.holder();
      await input.db.query({
        name: 'report_live_audio',
        text: 'select report_live_audio($1, $2, $3, $4)',
        values: [id, epoch, [...current.keys()], [...current.values()]],
      });
      reported = current;
    },
  });
  return () => task.stop();
}

function isSame(a: LiveAudio, b: LiveAudio): boolean {
  if (a.size !== b.size) return false;
  for (const [sessionId, samples] of a) if (b.get(sessionId) !== samples) return false;
  return true;
}
