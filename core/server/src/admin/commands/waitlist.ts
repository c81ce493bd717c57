import { Option, type Command } from 'commander';
import { approveWaitlist, listWaitlist, type WaitlistEntry } from '../../accounts/waitlist.ts';
import { createLedger } from '../../ledger/ledger.ts';
import { parseCount, parseDuration, parseUuid } from '../arguments.ts';
import type { AdminContext, RunCommand } from '../context.ts';
import { examples } from '../examples.ts';
import { Problem } from '../problem.ts';

const ENTRY = '5b2d9d0e-90f4-4b6a-8d35-6f1f5a3a7e42';

export function addWaitlistCommand(program: Command, run: RunCommand): void {
  const waitlist = program
    .command('waitlist')
    .description('list and approve people on the waitlist');
  examples(waitlist, ['waitlist list', `waitlist approve ${ENTRY} --grant 1h`]);

  const list = waitlist
    .command('list')
    .description('list the waitlist, oldest first; decided requests newest first')
    .addOption(
      new Option('--status <status>', 'which ones')
        .choices(['waiting', 'approved', 'declined'])
        .default('waiting'),
    )
    .option('--limit <count>', 'maximum number of entries', parseCount(1, 10_000), 50)
    .action((options: { status: WaitlistEntry['status']; limit: number }) =>
      run(async ({ db, output }) => {
        const entries = await listWaitlist(db, options);
        output.show(
          entries.map((entry) => ({
            id: entry.id,
            email: entry.email,
            name: entry.name,
            purpose: entry.purpose,
            status: entry.status,
            account_id: entry.accountId,
            created_at: entry.createdAt,
          })),
        );
      }),
    );
  examples(list, ['waitlist list', 'waitlist list --status approved --json']);

  const approve = waitlist
    .command('approve')
    .description(
      'create their account; repeating it returns the same account and grants credit once',
    )
    .argument('<entry>', 'the id that `waitlist list` shows', parseUuid)
    .option('--grant <amount>', 'first credit: 90s, 30m, 2h', parseDuration)
    .action((id: string, options: { grant?: number }) =>
      run((context) => approveEntry(context, id, options.grant ?? null)),
    );
  examples(approve, [`waitlist approve ${ENTRY}`, `waitlist approve ${ENTRY} --grant 1h`]);
}

async function approveEntry(
  { db, output, actor }: AdminContext,
  id: string,
  grantMs: number | null,
): Promise<void> {
  const accountId = await approveWaitlist(db, { id, actor });
  if (accountId === null) {
    throw new Problem(`There is no waitlist entry ${id}. See \`svc-admin waitlist list\`.`);
  }
  if (grantMs !== null) {
    const reason = 'first credit after the waitlist';
    // The entry's id names the grant: approving twice grants once.
    await createLedger(db).grant({ accountId, ms: grantMs, reason, actor, id });
  }
  output.show({ entry_id: id, account_id: accountId, granted_ms: grantMs });
}
