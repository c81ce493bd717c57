import type { ModelId } from '@svc-asr/protocol/constants.ts';
import { InvalidArgumentError, Option, type Command } from 'commander';
import {
  EXIT,
  InterruptedError,
  UsageError,
  wholeNumber,
  type Context,
  type ExitCode,
  type RunCommand,
} from '../command.ts';
import { transcribeAll } from '../bulk/bulk.ts';
import { announceShortCredit, creditLeftMs, printEstimate } from '../bulk/estimate.ts';
import { expandInputs, STDIN, type InputFile } from '../input-files.ts';
import { earlierMs, prepareJobs, type Job } from '../bulk/jobs.ts';
import {
  addRecognitionOptions,
  readRecognitionOptions,
  type RecognitionOptions,
} from '../recognition-options.ts';
import { languageOption, modelFor } from '../languages.ts';
import { exists, planOutputs, prepareFolders, type OutputPlan } from '../output-files.ts';
import { ProgressBoard } from '../bulk/progress-board.ts';
import { Results } from '../bulk/results.ts';
import { openClient } from '../settings.ts';
import { storeStandardInput } from '../standard-input.ts';
import { clock } from '../terminal.ts';
import { FORMATS, parseFormats, type Format } from '../transcript-formats.ts';

const JOBS_MAX = 32;

interface TranscribeOptions extends RecognitionOptions {
  readonly language?: string;
  readonly format?: readonly Format[];
  readonly out?: string;
  readonly jobs: number;
  readonly recursive?: true;
  readonly force?: true;
  readonly skipSilence?: true;
  readonly dryRun?: true;
  readonly json?: true;
}

export function addTranscribeCommand(program: Command, run: RunCommand): void {
  const command = program
    .command('transcribe')
    .argument(
      '<files...>',
      'files, folders, quoted patterns such as "**/*.wav", or - for standard input',
    )
    .summary('Transcribe audio and video files')
    .description(
      'Transcribes every format that ffmpeg reads. Several files run at once, as many as the account allows, and ' +
        'short files share sessions, which are charged in whole seconds. The text has one line for each turn, the ' +
        'speech between two pauses. Subtitles have one cue for each turn, and several for a long one.',
    )
    .addOption(languageOption())
    .addOption(
      new Option(
        '-f, --format <formats>',
        'text (or txt), json, srt or vtt (default: "text"); with -o several, separated by commas, for one charge',
      ).argParser(formatList),
    )
    .option('-o, --out <folder>', 'write the transcripts to <folder>; skip inputs already done')
    .option('--force', 'with -o: transcribe inputs again that are already done')
    .option('-r, --recursive', 'search folders with their subfolders')
    .option('-j, --jobs <n>', `files at once, 1 to ${JOBS_MAX}`, wholeNumber(1, JOBS_MAX), 4)
    .option('--skip-silence', "don't send long silence: audio that is not sent is not charged")
    .option('--dry-run', 'print what the files would cost, and send nothing')
    .option('--json', 'print one JSON line per file, failures included')
    .addHelpText(
      'after',
      `
With -o, Ctrl-C and failures lose nothing that was paid for. Run the same
command again to continue after the last final. Until then the text so far is
in FILE.partial, and the position is in FILE.resume.ndjson.

Examples:
  svc transcribe interview.mp3 -l ki
  svc transcribe interview.mp3 -l ki > turns.txt          # one line per turn
  svc transcribe interview.mp3 -l ki --json | jq '.finals[] | {start_ms, text}'
  svc transcribe market.mp3 -l ki --numbers               # 2500, not the words
  svc transcribe recordings/ --recursive -l luo -f txt,srt -o transcripts/
  svc transcribe recordings/ -l luo --dry-run             # what would it cost?
  svc transcribe meeting.m4a -l ki --skip-silence --json | jq .text
  curl -s https://example.org/talk.mp3 | svc transcribe - -l ki`,
    )
    .action((inputs: readonly string[], options: TranscribeOptions) =>
      run((context) => transcribe(context, inputs, options)),
    );
  addRecognitionOptions(command);
}

function formatList(value: string): readonly Format[] {
  const formats = parseFormats(value);
  if (formats !== null) return formats;
  throw new InvalidArgumentError(`Use ${FORMATS.join(', ')}, or several separated by commas.`);
}

async function transcribe(
  context: Context,
  inputs: readonly string[],
  options: TranscribeOptions,
): Promise<ExitCode> {
  const model = modelFor(options.language, context);
  const formats = checkedFormats(options);
  // Report a missing file before any work.
  await readRecognitionOptions(options);
  const files = await expandInputs(inputs, { recursive: options.recursive === true });
  const outputs = options.out === undefined ? null : planOutputs(files, options.out, formats);
  // Report a missing key and a wrong folder before any work.
  await openClient(context.env);
  if (outputs !== null && options.dryRun !== true) await prepareFolders(outputs.values());
  const stored = files.some(({ path }) => path === STDIN)
    ? await storeStandardInput(context)
    : null;
  try {
    const sourceOf = (path: string): string => (path === STDIN ? (stored?.path ?? path) : path);
    const run = new TranscribeRun(context, options, { files, outputs, formats });
    return await run.finish(await run.prepare({ model, sourceOf }), model);
  } finally {
    await stored?.remove();
  }
}

/** Refuses options that contradict each other, before anything is charged. */
function checkedFormats(options: TranscribeOptions): readonly Format[] {
  const formats = options.format ?? [options.json === true ? 'json' : 'text'];
  if (options.out !== undefined) return formats;
  if (options.force === true)
    throw new UsageError('--force needs -o: without it nothing is skipped.');
  if (formats.length > 1)
    throw new UsageError('Several formats need -o: they go to separate files.');
  if (options.json === true && formats[0] !== 'json') {
    throw new UsageError(
      `--json prints JSON, not ${formats[0]}. Leave out one of them, or add -o to write ${formats[0]} files.`,
    );
  }
  return formats;
}

class TranscribeRun {
  readonly #context: Context;
  readonly #options: TranscribeOptions;
  readonly #files: readonly InputFile[];
  readonly #outputs: ReadonlyMap<string, OutputPlan> | null;
  readonly #board: ProgressBoard;
  readonly #results: Results;

  constructor(
    context: Context,
    options: TranscribeOptions,
    plan: {
      files: readonly InputFile[];
      outputs: ReadonlyMap<string, OutputPlan> | null;
      formats: readonly Format[];
    },
  ) {
    const paths = plan.files.map(({ path }) => path);
    this.#context = context;
    this.#options = options;
    this.#files = plan.files;
    this.#outputs = plan.outputs;
    this.#board = new ProgressBoard(context.terminal, paths);
    this.#results = new Results(context.terminal, this.#board, {
      paths,
      format: plan.formats[0] ?? 'text',
      json: options.json === true,
      force: options.force === true,
      outputs: plan.outputs,
    });
  }

  /** Returns the files that are still to do, and reports the others. */
  async prepare(input: { model: ModelId; sourceOf: (path: string) => string }): Promise<Job[]> {
    const todo: InputFile[] = [];
    for (const file of this.#files) {
      if (await this.#isDone(file)) await this.#results.add({ is: 'skipped', path: file.path });
      else todo.push(file);
    }
    const prepared = await prepareJobs(this.#context, todo, {
      ...input,
      outputs: this.#outputs,
      force: this.#options.force === true,
    });
    const jobs: Job[] = [];
    for (const each of prepared) {
      if ('source' in each) jobs.push(each);
      else if (each.error instanceof InterruptedError) {
        await this.#results.add({ is: 'not_started', path: each.path });
      } else {
        await this.#results.add({ is: 'failed', ...each, transcript: null });
      }
    }
    return jobs;
  }

  async finish(jobs: readonly Job[], model: ModelId): Promise<ExitCode> {
    const { skipSilence = false, json = false, jobs: workers } = this.#options;
    const { terminal, interrupted } = this.#context;
    if (this.#options.dryRun === true) {
      const code = await printEstimate(this.#context, jobs, { skipSilence, json });
      return code === EXIT.done ? this.#results.exitCode : code;
    }
    await announceShortCredit(this.#context, jobs);
    for (const job of jobs) {
      this.#board.plan(job.path, { totalMs: job.durationMs, fromMs: earlierMs(job) });
    }
    interrupted.addEventListener('abort', () => {
      terminal.note(
        'Stopping: waiting for the text of audio that was sent. Ctrl-C again stops at once.',
      );
    });
    const [board, results] = [this.#board, this.#results];
    const recognition = await readRecognitionOptions(this.#options);
    await transcribeAll(this.#context, {
      jobs,
      model,
      workers,
      skipSilence,
      recognition,
      board,
      results,
    });
    board.end();
    if (this.#files.length > 1) terminal.note(await this.#summary());
    const { failed, notStarted } = results.totals;
    if (interrupted.aborted && failed + notStarted > 0) return EXIT.interrupted;
    return this.#files.length === 0 ? EXIT.usage : results.exitCode;
  }

  async #isDone({ path }: InputFile): Promise<boolean> {
    const plan = this.#outputs?.get(path);
    if (plan === undefined || this.#options.force === true) return false;
    const found = await Promise.all(plan.files.map(({ path: output }) => exists(output)));
    return found.every(Boolean);
  }

  async #summary(): Promise<string> {
    const { totals } = this.#results;
    const counts = [
      `${totals.done} done`,
      ...(totals.failed === 0 ? [] : [`${totals.failed} failed`]),
      ...(totals.skipped === 0 ? [] : [`${totals.skipped} skipped`]),
      ...(totals.notStarted === 0 ? [] : [`${totals.notStarted} not started`]),
    ];
    const leftMs = await creditLeftMs(this.#context);
    return [
      `Total: ${counts.join(', ')}`,
      `${clock(totals.audioMs)} of audio`,
      `${totals.chargedMs / 1000} s charged`,
      ...(leftMs === null ? [] : [`${clock(leftMs)} credit left`]),
    ].join(' · ');
  }
}
