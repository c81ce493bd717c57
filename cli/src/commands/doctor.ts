import { EXIT, flag, type Command, type ExitCode, type Invocation } from '../command.ts';
import { checkUp, type Finding } from '../checks.ts';

export const doctorCommand: Command = {
  about: 'Find out what is wrong, and say what to do',
  help: `Usage: svc doctor [--json]

Checks the settings, the network, the clock, the key, the credit, a stream, and
the programs for audio. A stream is opened and closed without audio, so nothing
is charged.

Examples:
  svc doctor
  svc doctor --json | jq '.[] | select(.ok == false)'`,
  options: { json: { type: 'boolean' } },
  run,
};

async function run(invocation: Invocation): Promise<ExitCode> {
  const { terminal } = invocation;
  const findings: Finding[] = [];
  for await (const finding of checkUp(invocation)) {
    findings.push(finding);
    if (!flag(invocation, 'json')) terminal.print(line(invocation, finding));
  }
  const wrong = findings.filter((finding) => !finding.ok);
  if (flag(invocation, 'json')) terminal.json(findings);
  else if (wrong.length === 0) terminal.print(`\n${terminal.style('green', 'All is well.')}`);
  else terminal.print(`\n${wrong.length} of ${findings.length} to look at.`);
  return wrong.length === 0 ? EXIT.done : EXIT.failed;
}

function line({ terminal }: Invocation, finding: Finding): string {
  const mark = finding.ok ? terminal.style('green', '✓') : terminal.style('red', '✗');
  const advice = finding.advice === null ? '' : `\n  ${terminal.style('yellow', finding.advice)}`;
  return `${mark} ${finding.check.padEnd(10)} ${finding.found}${advice}`;
}
