import { causeOf } from '@svc-asr/protocol/console/outcome.ts';
import type { Command } from 'commander';
import { requestSessionEnd } from '../../sessions/end-requests.ts';
import {
  findSession,
  listLiveSessions,
  listSessions,
  type SessionRow,
} from '../../ledger/reports/history.ts';
import { listFailedSessions } from '../../ledger/reports/failures.ts';
import { listNodes } from '../../nodes/nodes.ts';
import type { Queryable } from '../../platform/database/db.ts';
import { sleep } from '../../platform/sleep.ts';
import { parseCount } from '../arguments.ts';
import type { RunCommand } from '../context.ts';
import { examples } from '../examples.ts';
import { Problem } from '../problem.ts';
import { accountOf, parseShortId, SESSION_ARGUMENT, sessionOf } from '../short-id.ts';

/** A node looks for requests every two seconds. It then waits for the last final. */
const END_WITHIN_MS = 10_000;

export function addSessionsCommand(program: Command, run: RunCommand): void {
  const sessions = program.command('sessions').description('show and end sessions');
  examples(sessions, ['sessions list', 'sessions show 3d0e7f64']);

  const list = sessions
    .command('list')
    .description(
      'list the sessions of an account, newest first; without --account, all live sessions',
    )
    .option('--failed', 'only sessions that failed within a week, with the cause')
    .option('--account <id>', 'only this account', parseShortId)
    .option('--limit <count>', 'maximum number of sessions', parseCount(1, 10_000), 50)
    .action((options: { account?: string; failed?: true; limit: number }) =>
      run(async ({ db, output }) => {
        const { account, failed = false, limit } = options;
        const accountId = account === undefined ? null : (await accountOf(db, account)).id;
        if (failed) return output.show(await listFailedSessions(db, { accountId, limit }));
        if (accountId === null) return output.show(await listLiveSessions(db, limit));
        return output.show(await listSessions(db, { accountId, limit }));
      }),
    );
  examples(list, [
    'sessions list',
    'sessions list --failed',
    'sessions list --account 7f0c9a52 --limit 200 --json',
  ]);

  const show = sessions
    .command('show')
    .description('show one session: its client, its charge, and why it ended early')
    .argument(...SESSION_ARGUMENT)
    .action((shortId: string) =>
      run(async ({ db, output }) => {
        const id = await sessionOf(db, shortId);
        const session = await findSession(db, id);
        if (session === null) throw new Problem(`There is no session ${id}.`);
        const cause = causeOf({ ...session, isOpened: session.claimed_at !== null });
        output.show({ ...session, cause });
      }),
    );
  examples(show, ['sessions show 3d0e7f64']);
  addEnd(sessions, run);
}

function addEnd(sessions: Command, run: RunCommand): void {
  const end = sessions
    .command('end')
    .description('end an open stream; its accepted audio is charged')
    .argument(...SESSION_ARGUMENT)
    .action((shortId: string) =>
      run(async ({ db, output }) => {
        const id = await sessionOf(db, shortId);
        if ((await requestSessionEnd(db, id)) === 'reserved') {
          throw new Problem('The session is only reserved. It expires by itself within a minute.');
        }
        const session = await endedSession(db, id);
        if (session === null) {
          throw new Problem(
            `Its node has not ended session ${id} yet. Check the node with \`svc-admin nodes list\`.`,
          );
        }
        output.show(session);
      }),
    );
  examples(end, ['sessions end 3d0e7f64']);
}

/** Waits until the session is over. Null: it still isn't. */
async function endedSession(db: Queryable, id: string): Promise<SessionRow | null> {
  const deadlineMs = performance.now() + END_WITHIN_MS;
  while (performance.now() < deadlineMs) {
    const session = await findSession(db, id);
    if (session !== null && session.completed_at !== null) return session;
    await sleep(200);
  }
  return null;
}

export function addNodesCommand(program: Command, run: RunCommand): void {
  const nodes = program.command('nodes').description('show streaming nodes');
  examples(nodes, ['nodes list', 'nodes list --json']);
  const list = nodes
    .command('list', { isDefault: true })
    .description('list streaming nodes with their load and lease; the same as `nodes`')
    .action(() => run(async ({ db, output }) => output.show(await listNodes(db))));
  examples(list, ['nodes list', 'nodes list --json']);
}
