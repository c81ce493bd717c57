import type { Command } from 'commander';
import { linkCells } from '../../cells/link-cells.ts';
import { connect } from '../../platform/database/db.ts';
import type { AdminContext, AdminEnvironment, RunCommand } from '../context.ts';
import { examples } from '../examples.ts';
import { targetUrl } from './move.ts';
import { Problem } from '../problem.ts';

export function addLinkCommand(
  cells: Command,
  run: RunCommand,
  environment: AdminEnvironment,
): void {
  const link = cells
    .command('link')
    .description(
      'give this cell and that of TARGET_DATABASE_URL a new secret to sign moves with; needs the owner of both schemas',
    )
    .action(() => run((context) => linkBoth(context, environment)));
  examples(link, ['cells link']);
}

async function linkBoth(
  { databaseUrl, output }: AdminContext,
  { env }: AdminEnvironment,
): Promise<void> {
  const one = await connect({ url: databaseUrl });
  try {
    const other = await connect({ url: targetUrl(env['TARGET_DATABASE_URL']) });
    try {
      const linked = await linkCells(one, other);
      if (linked === null) {
        throw new Problem(
          'Both databases must be cells, and different ones. See `svc-admin cells create`.',
        );
      }
      output.show({ cells: linked });
      output.say(
        'Accounts can now move between them. Run it again at any time to replace the secret.',
      );
    } finally {
      await other.end();
    }
  } finally {
    await one.end();
  }
}
