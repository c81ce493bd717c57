import { Option, type Command } from 'commander';
import {
  approveWaitlist,
  declineWaitlist,
  eraseWaitlistEntry,
  listWaitlist,
  type WaitlistEntry,
} from '../../accounts/waitlist.ts';
import { createLedger } from '../../ledger/ledger.ts';
import { parseCount, parseDuration, parseReason, parseUuid } from '../arguments.ts';
import { confirm } from '../confirm.ts';
import type { AdminContext, AdminEnvironment, RunCommand } from '../context.ts';
import { examples } from '../examples.ts';
import { Problem } from '../problem.ts';

const ENTRY = '5b2d9d0e-90f4-4b6a-8d35-6f1f5a3a7e42';
const ENTRY_ARGUMENT = ['<entry>', 'the id that `waitlist list` shows', parseUuid] as const;

export function addWaitlistCommand(
  program: Command,
  run: RunCommand,
  environment: AdminEnvironment,
): void {
  const waitlist = program
    .command('waitlist')
    .description('list, approve, decline and erase requests on the waitlist');
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
    .argument(...ENTRY_ARGUMENT)
    .option('--grant <amount>', 'first credit: 90s, 30m, 2h', parseDuration)
    .action((id: string, options: { grant?: number }) =>
      run((context) => approveEntry(context, id, options.grant ?? null)),
    );
  examples(approve, [`waitlist approve ${ENTRY}`, `waitlist approve ${ENTRY} --grant 1h`]);
  addDecline(waitlist, run);
  addErase(waitlist, run, environment);
}

function addDecline(waitlist: Command, run: RunCommand): void {
  const decline = waitlist
    .command('decline')
    .description('decline a request that waits; the person gets no email')
    .argument(...ENTRY_ARGUMENT)
    .option('--reason <text>', 'why; kept with the request and in the audit log', parseReason)
    .action((id: string, options: { reason?: string }) =>
      run(async ({ db, output, actor }) => {
        const { reason = '' } = options;
        if (!(await declineWaitlist(db, { id, actor, reason }))) {
          throw new Problem(`No request ${id} is waiting. See \`svc-admin waitlist list\`.`);
        }
        output.show({ entry_id: id, status: 'declined' });
      }),
    );
  examples(decline, [
    `waitlist decline ${ENTRY}`,
    `waitlist decline ${ENTRY} --reason "no such company"`,
  ]);
}

function addErase(waitlist: Command, run: RunCommand, environment: AdminEnvironment): void {
  const erase = waitlist
    .command('erase')
    .description('remove a request that was not approved, with its personal data, for good')
    .argument(...ENTRY_ARGUMENT)
    .option('--yes', 'do not ask')
    .action((id: string, options: { yes?: true }) =>
      run(async ({ db, output }) => {
        const question = `This erases the request ${id} for good.`;
        await confirm(environment, { question, yes: options.yes === true });
        const status = await eraseWaitlistEntry(db, id);
        if (status === null) throw unknownEntry(id);
        if (status === 'approved') {
          throw new Problem(
            'The request was approved. It is erased with its account: svc-admin accounts erase.',
          );
        }
        output.show({ entry_id: id, status: 'erased' });
      }),
    );
  examples(erase, [`waitlist erase ${ENTRY}`, `waitlist erase ${ENTRY} --yes`]);
}

function unknownEntry(id: string): Problem {
  return new Problem(`There is no waitlist entry ${id}. See \`svc-admin waitlist list\`.`);
}

async function approveEntry(
  { db, output, actor }: AdminContext,
  id: string,
  grantMs: number | null,
): Promise<void> {
  const accountId = await approveWaitlist(db, { id, actor });
  if (accountId === null) {
    throw new Problem(
      `There is no waitlist entry ${id}, or it was declined. See \`svc-admin waitlist list\`.`,
    );
  }
  if (grantMs !== null) {
    const reason = 'first credit after the waitlist';
    // The entry's id names the grant: approving twice grants once.
    await createLedger(db).grant({ accountId, ms: grantMs, reason, actor, id });
  }
  output.show({ entry_id: id, account_id: accountId, granted_ms: grantMs });
}
