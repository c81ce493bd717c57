import { CREDIT_REQUEST_STATUSES } from '@svc-asr/protocol/console/constants.ts';
import { Option, type Command } from 'commander';
import {
  decideCreditRequest,
  listCreditRequests,
  type CreditRequestStatus,
} from '../../accounts/credit-requests.ts';
import { parseCount, parseDuration, parseReason, parseUuid } from '../arguments.ts';
import type { AdminContext, AdminEnvironment, RunCommand } from '../context.ts';
import { examples } from '../examples.ts';
import { Problem } from '../problem.ts';
import { confirmGrant } from './confirm-grant.ts';

const REQUEST = '8e0a3b52-1c5d-4a8e-9f0b-6d3f2b7c1a90';
const REQUEST_ARGUMENT = [
  '<request>',
  'the id that `credit requests list` shows',
  parseUuid,
] as const;
const REPLY = ['--reply <text>', 'why; the owners get it by email', parseReason] as const;

interface Decision {
  readonly reply: string;
  readonly yes?: true;
}

/** What customers asked for on the console, and the decisions that its operators can make there too. */
export function addCreditRequests(
  credit: Command,
  run: RunCommand,
  environment: AdminEnvironment,
): void {
  const requests = credit
    .command('requests')
    .description('list, grant and decline requests of customers for credit');
  examples(requests, [
    'credit requests list',
    `credit requests grant ${REQUEST} 2h --reply "for the pilot"`,
  ]);

  const list = requests
    .command('list')
    .description('list requests, oldest first; decided requests newest first')
    .addOption(
      new Option('--status <status>', 'which ones')
        .choices([...CREDIT_REQUEST_STATUSES])
        .default('open'),
    )
    .option('--limit <count>', 'maximum number of requests', parseCount(1, 10_000), 50)
    .action((options: { status: CreditRequestStatus; limit: number }) =>
      run(async ({ db, output }) =>
        output.show(await listCreditRequests(db, { ...options, after: null })),
      ),
    );
  examples(list, ['credit requests list', 'credit requests list --status declined --json']);

  const grant = requests
    .command('grant')
    .description('add credit for a request; the owners of the account get an email')
    .argument(...REQUEST_ARGUMENT)
    .argument('<amount>', 'audio time with its unit: 90s, 30m, 2h', parseDuration)
    .requiredOption(...REPLY)
    .option('--yes', 'do not ask about more than 1,000 hours')
    .action((id: string, ms: number, { reply, yes }: Decision) =>
      run(async (context) => {
        await confirmGrant(environment, { ms, account: `the account of request ${id}`, yes });
        await decide(context, { id, ms, reply });
      }),
    );
  examples(grant, [`credit requests grant ${REQUEST} 2h --reply "for the pilot"`]);

  const decline = requests
    .command('decline')
    .description('decline a request; the owners of the account get an email')
    .argument(...REQUEST_ARGUMENT)
    .requiredOption(...REPLY)
    .action((id: string, { reply }: Decision) =>
      run((context) => decide(context, { id, ms: null, reply })),
    );
  examples(decline, [`credit requests decline ${REQUEST} --reply "please pay invoice 14 first"`]);
}

async function decide(
  { db, output, actor }: AdminContext,
  decision: { readonly id: string; readonly ms: number | null; readonly reply: string },
): Promise<void> {
  const { id, ms } = decision;
  const availableMs = await decideCreditRequest(db, { ...decision, actor });
  if (availableMs === null) {
    throw new Problem(`No request ${id} is open. See \`svc-admin credit requests list\`.`);
  }
  output.show({
    request_id: id,
    status: ms === null ? 'declined' : 'granted',
    granted_ms: ms,
    available_ms: availableMs,
  });
}
