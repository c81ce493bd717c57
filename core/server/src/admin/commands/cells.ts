import type { Command } from 'commander';
import { findCell, setCell } from '../../accounts/cell.ts';
import { addToEdge } from '../../cells/edge-files.ts';
import { connect } from '../../platform/database/db.ts';
import { migrate } from '../../platform/database/migrate.ts';
import { queryRows, statement, t } from '../../platform/database/statement.ts';
import type { AdminContext, AdminEnvironment, RunCommand } from '../context.ts';
import { examples } from '../examples.ts';
import { addLinkCommand } from './link.ts';
import { parseCell } from './move.ts';
import { Problem } from '../problem.ts';

interface CreateOptions {
  readonly edge?: string;
  readonly server: readonly string[];
}

/**
 * Keys of moved accounts are routed to their new cell. Keys from before cells had names stay here,
 * whatever their prefix.
 */
const EXCEPTIONS = statement(
  `select k.id as key_id, case when a.move_state = 'moved' then a.move_cell else c.id end as cell
    from api_keys k join accounts a on a.id = k.account_id cross join cell c
    where k.revoked_at is null and (a.move_state = 'moved' or left(k.id, 2) <> c.id)
      and a.move_state is distinct from 'arriving'
    order by k.id`,
  { key_id: t.text(), cell: t.nullable(t.text()) },
);

export function addCellsCommand(
  program: Command,
  run: RunCommand,
  environment: AdminEnvironment,
): void {
  const cells = program
    .command('cells')
    .description('name cells, link them for moves, and list keys for the edge');
  const create = cells
    .command('create')
    .description('migrate this database, name its cell, and add it to the edge; safe to repeat')
    .argument('<cell>', 'two lower-case letters or digits', parseCell)
    .option('--edge <folder>', "the edge's folder of maps and backends")
    .option('--server <host:port>', 'a process of the cell; repeat for several', collect, [])
    .action((cell: string, options: CreateOptions) =>
      run((context) => createCell(context, cell, options)),
    );
  examples(create, ['cells create k2 --edge /etc/svc-edge --server 10.0.2.11:8080']);

  addLinkCommand(cells, run, environment);

  const exceptions = cells
    .command('exceptions')
    .description(
      "print lines for the edge's keys.map: keys whose id does not begin with their cell",
    )
    .action(() => run(showExceptions, 'svc_auditor'));
  examples(exceptions, ['cells exceptions > /etc/svc-edge/keys.map', 'cells exceptions --json']);
}

function collect(value: string, previous: readonly string[]): readonly string[] {
  return [...previous, value];
}

async function createCell(
  { databaseUrl, output }: AdminContext,
  cell: string,
  options: CreateOptions,
): Promise<void> {
  await migrate({ url: databaseUrl });
  const owner = await connect({ url: databaseUrl });
  try {
    const known = await findCell(owner);
    const named = await setCell(owner, cell);
    if (named !== cell) throw new Problem(`This database is cell ${named}. A cell keeps its name.`);
    const count =
      options.edge === undefined ? null : await addToEdge(options.edge, cell, options.server);
    output.show({ cell, edge: options.edge ?? null });
    if (known === null && count !== null) await printEnvironment(output, cell, count);
  } finally {
    await owner.end();
  }
}

/** New secrets for a new cell. The pepper has its own id, so that keys can move to another cell. */
async function printEnvironment(
  output: AdminContext['output'],
  cell: string,
  pepperId: number,
): Promise<void> {
  // The settings of the service load its engine, which takes longer than any other command runs.
  const { generateSecrets } = await import('../../config.ts');
  const { API_KEY_PEPPER, SESSION_SIGNING_KEYS } = generateSecrets();
  output.say(
    `For the processes of a new cell ${cell} (keep them in a secret manager; they are shown once):\n` +
      `API_KEY_PEPPER=${pepperId}:${API_KEY_PEPPER}\nSESSION_SIGNING_KEYS=${SESSION_SIGNING_KEYS}`,
  );
}

async function showExceptions({ db, output }: AdminContext): Promise<void> {
  output.lines(await queryRows(db, EXCEPTIONS, []));
}
