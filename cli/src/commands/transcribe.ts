import { Option, type Command } from 'commander';
import {
  EXIT,
  UsageError,
  wholeNumber,
  type Context,
  type ExitCode,
  type RunCommand,
} from '../command.ts';
import { transcribeAll } from '../bulk.ts';
import { expandInputs, type InputFile } from '../input-files.ts';
import { languageOption, modelFor } from '../languages.ts';
import { exists, planOutputs } from '../output-files.ts';
import { ProgressBoard } from '../progress-board.ts';
import { Results } from '../results.ts';
import { openClient } from '../settings.ts';
import { clock } from '../terminal.ts';
import { FORMATS, type Format } from '../transcript-formats.ts';

const JOBS_MAX = 32;

interface TranscribeOptions {
  readonly language?: string;
  readonly format?: Format;
  readonly out?: string;
  readonly jobs: number;
  readonly recursive?: true;
  readonly force?: true;
  readonly skipSilence?: true;
  readonly json?: true;
}

export function addTranscribeCommand(program: Command, run: RunCommand): void {
  program
    .command('transcribe')
    .argument('<files...>', 'files, folders, or quoted patterns such as "**/*.wav"')
    .summary('Transcribe audio and video files')
    .description(
      'Transcribes every format that ffmpeg reads. Several files run at once, as many as the account allows, and ' +
        'short files share sessions, which are charged in whole seconds. The text has one line for each turn, the ' +
        'speech between two pauses. Subtitles have one cue for each turn, and several for a long one.',
    )
    .addOption(languageOption())
    .addOption(
      new Option('-f, --format <format>', 'output format (default: "text")').choices(FORMATS),
    )
    .option('-o, --out <folder>', 'write one file per input to <folder>; skip inputs already done')
    .option('--force', 'with -o: transcribe inputs again that are already done')
    .option('-r, --recursive', 'search folders with their subfolders')
    .option('-j, --jobs <n>', `files at once, 1 to ${JOBS_MAX}`, wholeNumber(1, JOBS_MAX), 4)
    .option('--skip-silence', "don't send long silence: audio that is not sent is not charged")
    .option('--json', 'print one JSON line per file, failures included')
    .addHelpText(
      'after',
      `
With -o, an incomplete transcript is kept as FILE.partial. Run the same command
again to continue: finished files are skipped.

Examples:
  svc transcribe interview.mp3 -l ki
  svc transcribe interview.mp3 -l ki > turns.txt          # one line per turn
  svc transcribe interview.mp3 -l ki --json | jq '.finals[] | {start_ms, text}'
  svc transcribe recordings/ --recursive -l luo -f srt -o subtitles/
  svc transcribe meeting.m4a -l ki --skip-silence --json | jq .text`,
    )
    .action((inputs: readonly string[], options: TranscribeOptions) =>
      run((context) => transcribe(context, inputs, options)),
    );
}

async function transcribe(
  context: Context,
  inputs: readonly string[],
  options: TranscribeOptions,
): Promise<ExitCode> {
  const { terminal } = context;
  const model = modelFor(options.language, context);
  const format = options.format ?? (options.json === true ? 'json' : 'text');
  if (options.force === true && options.out === undefined) {
    throw new UsageError('--force needs -o: without it nothing is skipped.');
  }
  const files = await expandInputs(inputs, { recursive: options.recursive === true });
  const outputs = options.out === undefined ? null : planOutputs(files, options.out, format);
  // Report a missing key before any work.
  await openClient(context.env);
  const paths = files.map(({ path }) => path);
  const board = new ProgressBoard(terminal, paths);
  const results = new Results(terminal, board, {
    paths,
    format,
    json: options.json === true,
    outputs,
  });
  const todo: InputFile[] = [];
  for (const file of files) {
    const output = outputs?.get(file.path);
    const isDone = output !== undefined && options.force !== true && (await exists(output));
    if (isDone) await results.add({ is: 'skipped', path: file.path });
    else todo.push(file);
  }
  await transcribeAll(context, {
    paths: todo.map(({ path }) => path),
    model,
    jobs: options.jobs,
    skipSilence: options.skipSilence === true,
    board,
    results,
  });
  board.end();
  if (files.length > 1) terminal.note(await summary(context, results));
  return files.length === 0 ? EXIT.usage : results.exitCode;
}

async function summary({ env }: Context, { totals }: Results): Promise<string> {
  const counts = [
    `${totals.done} done`,
    ...(totals.failed === 0 ? [] : [`${totals.failed} failed`]),
    ...(totals.skipped === 0 ? [] : [`${totals.skipped} skipped`]),
  ];
  // Shows the totals even if the service does not answer.
  const usage = await openClient(env, { retriesMax: 0 })
    .then((client) => client.usage.get())
    .catch(() => null);
  return [
    `Total: ${counts.join(', ')}`,
    `${clock(totals.audioMs)} of audio`,
    `${totals.chargedMs / 1000} s charged`,
    ...(usage === null ? [] : [`${clock(usage.available_ms)} credit left`]),
  ].join(' · ');
}
