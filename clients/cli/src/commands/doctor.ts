import type { Command } from 'commander';
import { EXIT, type Context, type ExitCode, type RunCommand } from '../command.ts';
import { diagnose, type Finding } from '../diagnostics.ts';

export function addDoctorCommand(program: Command, run: RunCommand): void {
  program
    .command('doctor')
    .summary('Diagnose problems')
    .description(
      'Checks the settings, network, clock, key, credit, streaming, ffmpeg and the microphone, which it opens for ' +
        'a moment. Streaming is tested without audio, so nothing is charged. A missing microphone is no failure: ' +
        'only `svc listen` needs one.',
    )
    .option('--json', 'print the findings as JSON')
    .addHelpText(
      'after',
      `
Examples:
  svc doctor
  svc doctor --json | jq '.[] | select(.ok == false)'`,
    )
    .action((options: { json?: true }) => run((context) => doctor(context, options.json === true)));
}

async function doctor(context: Context, json: boolean): Promise<ExitCode> {
  const { terminal } = context;
  const findings: Finding[] = [];
  for await (const finding of diagnose(context)) {
    findings.push(finding);
    if (!json) terminal.print(line(context, finding));
  }
  const problems = findings.filter(({ ok, optional }) => !ok && optional !== true);
  if (json) terminal.json(findings);
  else if (problems.length === 0)
    terminal.print(`\n${terminal.style('green', 'No problems found.')}`);
  else terminal.print(`\n${problems.length} of ${findings.length} checks failed.`);
  return problems.length === 0 ? EXIT.done : EXIT.failed;
}

function line({ terminal }: Context, finding: Finding): string {
  const isWarning = !finding.ok && finding.optional === true;
  const failed = isWarning ? terminal.style('yellow', '!') : terminal.style('red', '✗');
  const mark = finding.ok ? terminal.style('green', '✓') : failed;
  const advice = finding.advice === null ? '' : `\n  ${terminal.style('yellow', finding.advice)}`;
  return `${mark} ${finding.check.padEnd(10)} ${finding.found}${advice}`;
}
