import type { CreditBalance, UsageSession } from '@svc-asr/sdk';
import { EXIT, flag, type Command, type Invocation } from '../command.ts';
import { openClient } from '../settings.ts';
import { bar, clock, type Style } from '../terminal.ts';

const CHART_WIDTH = 24;

export const usageCommand: Command = {
  about: 'Show credit and recent sessions',
  help: `Usage: svc usage [--json]

Shows the audio time left, held by open sessions and used, and the last 20
sessions with what each cost. Those that failed on the service's side cost
nothing.

Examples:
  svc usage
  svc usage --json | jq .available_ms`,
  options: { json: { type: 'boolean' } },
  async run(invocation) {
    const client = await openClient(invocation.env);
    const usage = await client.usage.get({ signal: invocation.interrupted });
    if (flag(invocation, 'json')) invocation.terminal.json(usage);
    else show(invocation, usage);
    return EXIT.done;
  },
};

function show({ terminal }: Invocation, usage: CreditBalance): void {
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

function line(terminal: Invocation['terminal'], session: UsageSession, most: number): string {
  // By the clock on the wall here; Swedes write it as ISO does.
  const when = new Date(session.created_at).toLocaleString('sv-SE').slice(0, 16);
  const language = session.model.includes('kikuyu') ? 'Kikuyu' : 'Dholuo';
  const status = terminal.style(STATUS_STYLES[session.status], session.status.padEnd(9));
  const chart = bar(session.billable_ms / most, 6);
  const cost = `${session.billable_ms / 1000} s`.padStart(6);
  return `${terminal.style('dim', when)} ${language}  ${status}  ${chart} ${cost}  ${terminal.style('dim', session.id.slice(0, 8))}`;
}
