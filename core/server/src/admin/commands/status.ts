import type { Command } from 'commander';
import {
  addIncident,
  changeIncident,
  listIncidents,
  removeIncident,
  type IncidentRow,
} from '../../nodes/status/incidents.ts';
import { parseCount, parsePast, parseReason, parseServiceUrl } from '../arguments.ts';
import type { RunCommand } from '../context.ts';
import { examples } from '../examples.ts';
import { Problem } from '../problem.ts';
import type { Row } from '../output.ts';

/** What the command line gave. */
interface Change {
  readonly text?: string;
  readonly start?: Date;
  readonly end?: Date;
}

const TEXT = 'Calls from Kisumu were cut off';
const EXPORT = 'status export /var/www/status --service https://api.example';

export function addStatusCommand(program: Command, run: RunCommand): void {
  const status = program
    .command('status')
    .description('write about incidents on the status page, and export the page');
  examples(status, [`status incident add "${TEXT}"`, EXPORT]);
  const incident = status.command('incident').description('incidents on the status page');
  examples(incident, [
    `status incident add "${TEXT}"`,
    'status incident change 3 --end 2027-01-31T12:40Z',
  ]);

  const add = incident
    .command('add')
    .description('show an incident; without an end it goes on')
    .argument('<text>', 'what customers noticed, in one sentence', parseReason)
    .option('--start <time>', 'in UTC, such as 2027-01-31T12:00Z; default: now', parsePast)
    .option('--end <time>', 'in UTC', parsePast)
    .action((text: string, { start, end }: Change) =>
      run(async ({ db, output }) => {
        requireOrder({ start: start ?? new Date(), end });
        const row = await addIncident(db, { text, start: start ?? null, end: end ?? null });
        output.show(shown(row));
      }),
    );
  examples(add, [
    `status incident add "${TEXT}"`,
    `status incident add "${TEXT}" --start 2027-01-31T12:00Z --end 2027-01-31T12:40Z`,
  ]);

  const changed = incident
    .command('change')
    .description('change the text or the times of an incident; --end resolves it')
    .argument('<id>', 'the number that `status incident list` shows', parseCount(1, 2_147_483_647))
    .option('--text <text>', 'what customers noticed', parseReason)
    .option('--start <time>', 'in UTC, such as 2027-01-31T12:00Z', parsePast)
    .option('--end <time>', 'in UTC', parsePast)
    .action((id: number, { text, start, end }: Change) =>
      run(async ({ db, output }) => {
        requireOrder({ start, end });
        const change = { id, text: text ?? null, start: start ?? null, end: end ?? null };
        const row = await changeIncident(db, change);
        if (row === null) throw unknown(id);
        output.show(shown(row));
      }),
    );
  examples(changed, ['status incident change 3 --end 2027-01-31T12:40Z']);

  const list = incident
    .command('list')
    .description('list incidents, newest first')
    .option('--days <count>', 'that touch these last days', parseCount(1, 3_650), 90)
    .action((options: { days: number }) =>
      run(async ({ db, output }) => output.show((await listIncidents(db, options)).map(shown))),
    );
  examples(list, ['status incident list --days 365']);

  const remove = incident
    .command('remove')
    .description('take an incident off the page; the audit log keeps its text')
    .argument('<id>', 'the number that `status incident list` shows', parseCount(1, 2_147_483_647))
    .action((id: number) =>
      run(async ({ db, output }) => {
        if (!(await removeIncident(db, id))) throw unknown(id);
        output.show({ id, removed: true });
      }),
    );
  examples(remove, ['status incident remove 3']);
  addExport(status, run);
}

function addExport(status: Command, run: RunCommand): void {
  const command = status
    .command('export')
    .description('write the status page as static files, for a web server elsewhere')
    .argument('<folder>', 'the root of that web server; it is created')
    .requiredOption('--service <url>', 'the address of the service, for links', parseServiceUrl)
    .action((folder: string, { service }: { service: string }) =>
      run(async ({ db, output }) => {
        const { exportStatus } = await import('../status-files.ts');
        output.show({ folder, files: await exportStatus(db, { folder, service }) });
      }),
    );
  examples(command, [EXPORT]);
}

function requireOrder({ start, end }: { start: Date | undefined; end: Date | undefined }): void {
  if (start !== undefined && end !== undefined && end < start) {
    throw new Problem('The incident would end before it starts. Give a later --end.');
  }
}

function unknown(id: number): Problem {
  return new Problem(`There is no incident ${id}. See \`svc-admin status incident list\`.`);
}

function shown({ updated_at: _updated, ...incident }: IncidentRow): Row {
  return incident;
}
