import type { Command } from 'commander';
import { findAccount } from '../accounts/accounts.ts';
import { findSession, listLiveSessions, listSessions } from '../ledger/history.ts';
import { listNodes } from '../nodes/nodes.ts';
import { unknownAccount } from './accounts-command.ts';
import { parseCount, parseUuid } from './arguments.ts';
import type { RunCommand } from './context.ts';
import { examples } from './examples.ts';
import { Problem } from './problem.ts';

export function addSessionsCommand(program: Command, run: RunCommand): void {
  const sessions = program.command('sessions').description('show sessions');
  examples(sessions, ['sessions list', 'sessions show 3d0e7f64-7c6f-4a43-9b3c-0a8f3d1f7c21']);

  const list = sessions
    .command('list')
    .description(
      'list the sessions of an account, newest first; without --account, all live sessions',
    )
    .option('--account <id>', 'only this account', parseUuid)
    .option('--limit <count>', 'maximum number of sessions', parseCount(1, 10_000), 50)
    .action((options: { account?: string; limit: number }) =>
      run(async ({ db, output }) => {
        const { account: accountId, limit } = options;
        if (accountId === undefined) return output.show(await listLiveSessions(db, limit));
        if ((await findAccount(db, accountId)) === null) throw unknownAccount(accountId);
        return output.show(await listSessions(db, { accountId, limit }));
      }),
    );
  examples(list, [
    'sessions list',
    'sessions list --account 7f0c9a52-3d5e-4c0f-9d55-0d6b1f0f4f11 --limit 200 --json',
  ]);

  const show = sessions
    .command('show')
    .description('show one session')
    .argument('<session>', 'its id', parseUuid)
    .action((id: string) =>
      run(async ({ db, output }) => {
        const session = await findSession(db, id);
        if (session === null) throw new Problem(`There is no session ${id}.`);
        output.show(session);
      }),
    );
  examples(show, ['sessions show 3d0e7f64-7c6f-4a43-9b3c-0a8f3d1f7c21']);
}

export function addNodesCommand(program: Command, run: RunCommand): void {
  const nodes = program
    .command('nodes')
    .description('list streaming nodes with their load and lease')
    .action(() => run(async ({ db, output }) => output.show(await listNodes(db))));
  examples(nodes, ['nodes', 'nodes --json']);
}
