import type { CreditBalance, UsageSession } from '@svc-asr/sdk';
import type { Command } from 'commander';
import { EXIT, type RunCommand } from '../command.ts';
import { openClient } from '../settings.ts';
import { bar, clock, type Style, type Terminal } from '../terminal.ts';

const CHART_WIDTH = 24;

export function addUsageCommand(program: Command, run: RunCommand): void {
  program
    .command('usage')
    .summary('Show credit and recent sessions')
    .description(
      'Shows the audio credit that is available, reserved by open sessions and used, and the last 20 sessions with ' +
        'their cost. Failed sessions are not charged.',
    )
    .option('--json', 'print the usage as JSON')
    .addHelpText(
      'after',
      `
Examples:
  svc usage
  svc usage --json | jq .available_ms`,
    )
    .action((options: { json?: true }) =>
      run(async ({ env, terminal, interrupted }) => {
        const client = await openClient(env);
        const usage = await client.usage.get({ signal: interrupted });
        if (options.json === true) terminal.json(usage);
        else show(terminal, usage);
        return EXIT.done;
      }),
    );
}

function show(terminal: Terminal, usage: CreditBalance): void {
  const total = usage.available_ms + usage.reserved_ms + usage.consumed_ms;
  const rows: [string, number, Style][] = [
    ['available', usage.available_ms, 'green'],
    ['reserved', usage.reserved_ms, 'yellow'],
    ['used', usage.consumed_ms, 'cyan'],
  ];
  for (const [name, ms, style] of rows) {
    const chart = terminal.style(style, bar(total === 0 ? 0 : ms / total, CHART_WIDTH));
    terminal.print(`${name.padEnd(10)} ${chart} ${clock(ms).padStart(9)}`);
  }
  if (usage.recent_sessions.length === 0) {
    terminal.print('\nNo sessions yet. Try: svc transcribe FILE --language ki');
    return;
  }
  const most = Math.max(1, ...usage.recent_sessions.map((session) => session.billable_ms));
  terminal.print(`\n${terminal.style('bold', 'Recent sessions')}`);
  for (const session of usage.recent_sessions) terminal.print(line(terminal, session, most));
}

const STATUS_STYLES: Readonly<Record<UsageSession['status'], Style>> = {
  reserved: 'yellow',
  active: 'yellow',
  completed: 'green',
  failed: 'red',
  expired: 'dim',
};

function line(terminal: Terminal, session: UsageSession, most: number): string {
  // Local time. The Swedish format looks like ISO 8601.
  const when = new Date(session.created_at).toLocaleString('sv-SE').slice(0, 16);
  const language = session.model.includes('kikuyu') ? 'Kikuyu' : 'Dholuo';
  const status = terminal.style(STATUS_STYLES[session.status], session.status.padEnd(9));
  const chart = bar(session.billable_ms / most, 6);
  const cost = `${session.billable_ms / 1000} s`.padStart(6);
  return `${terminal.style('dim', when)} ${language}  ${status}  ${chart} ${cost}  ${terminal.style('dim', session.id.slice(0, 8))}`;
}
