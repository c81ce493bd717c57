import { SvcError } from '@svc-asr/sdk';
import { EXIT, InterruptedError, type ExitCode } from '../command.ts';
import { describeError, errorCode, exitCodeOf } from '../error-messages.ts';
import type { FileTranscript } from '../file-transcript.ts';
import { partialPath, writeOutput, writePartial, type OutputPlan } from '../output-files.ts';
import type { ProgressBoard } from './progress-board.ts';
import { clock, jsonText, printable, type Terminal } from '../terminal.ts';
import { jsonFields, render, type Format } from '../transcript-formats.ts';

/** How the work on one file ended. A failed file may have a partial transcript. */
export type Result =
  | { readonly is: 'done'; readonly path: string; readonly transcript: FileTranscript }
  | { readonly is: 'skipped'; readonly path: string }
  | { readonly is: 'not_started'; readonly path: string }
  | {
      readonly is: 'failed';
      readonly path: string;
      readonly error: unknown;
      readonly transcript: FileTranscript | null;
    };

export interface ResultOptions {
  readonly paths: readonly string[];
  /** The format on standard output. */
  readonly format: Format;
  /** One JSON line per file on standard output. */
  readonly json: boolean;
  /** Replace outputs that exist. */
  readonly force: boolean;
  /** The outputs of each input, or null for standard output. */
  readonly outputs: ReadonlyMap<string, OutputPlan> | null;
}

export interface Totals {
  readonly done: number;
  readonly failed: number;
  readonly skipped: number;
  readonly notStarted: number;
  /** Of this run, without earlier ones. */
  readonly audioMs: number;
  readonly chargedMs: number;
}

/** Delivers results: to files as they arrive, to standard output in the order of the command line. */
export class Results {
  readonly #terminal: Terminal;
  readonly #board: ProgressBoard;
  readonly #options: ResultOptions;
  readonly #results: Result[] = [];
  readonly #ready = new Map<string, Result>();
  #printed = 0;

  constructor(terminal: Terminal, board: ProgressBoard, options: ResultOptions) {
    this.#terminal = terminal;
    this.#board = board;
    this.#options = options;
  }

  /** Rejects if a file can't be written. */
  async add(result: Result): Promise<void> {
    const plan = this.#options.outputs?.get(result.path);
    if (plan !== undefined) {
      await this.#writeFiles(result, plan);
      this.#results.push(result);
      if (this.#options.json) this.#terminal.print(this.#jsonLine(result, plan));
      this.#announce(result);
      return;
    }
    this.#results.push(result);
    this.#ready.set(result.path, result);
    this.#printInOrder();
  }

  get totals(): Totals {
    const count = (is: Result['is']): number =>
      this.#results.filter((each) => each.is === is).length;
    const transcripts = this.#results.flatMap((result) => transcriptOf(result) ?? []);
    return {
      done: count('done'),
      failed: count('failed'),
      skipped: count('skipped'),
      notStarted: count('not_started'),
      audioMs: transcripts.reduce((sum, { audioNowMs }) => sum + audioNowMs, 0),
      chargedMs: transcripts.reduce((sum, { chargedNowMs }) => sum + chargedNowMs, 0),
    };
  }

  /** The status of the first failure. */
  get exitCode(): ExitCode {
    const first = this.#results.find((result) => result.is === 'failed');
    return first === undefined ? EXIT.done : exitCodeOf(first.error);
  }

  #printInOrder(): void {
    const { paths, format, json } = this.#options;
    for (let next = paths[this.#printed]; next !== undefined; next = paths[this.#printed]) {
      const result = this.#ready.get(next);
      if (result === undefined) return;
      const transcript = transcriptOf(result);
      const title = paths.length === 1 ? '' : `── ${printable(next)}\n`;
      if (json || format === 'json') this.#terminal.print(this.#jsonLine(result));
      else if (transcript !== null) this.#terminal.print(title + render(format, transcript));
      this.#announce(result);
      this.#printed += 1;
    }
  }

  async #writeFiles(result: Result, plan: OutputPlan): Promise<void> {
    const transcript = transcriptOf(result);
    if (transcript === null) return;
    for (const { format, path } of plan.files) {
      const body = format === 'json' ? this.#jsonLine(result) : render(format, transcript);
      if (result.is === 'done') await writeOutput(path, body, this.#options.force);
      else await writePartial(path, body);
    }
  }

  #jsonLine(result: Result, plan?: OutputPlan): string {
    const { path: file, is: status } = result;
    const transcript = transcriptOf(result);
    const error = result.is === 'failed' ? { error: errorFields(result) } : {};
    const fields = transcript === null ? {} : jsonFields(transcript);
    if (plan === undefined) return jsonText({ file, status, ...error, ...fields });
    // With -o the transcript is in the files.
    const { audio_ms, charged_ms } = fields;
    const written = { ...outputFields(result, plan), ...error, audio_ms, charged_ms };
    return jsonText({ file, status, ...written });
  }

  #announce(result: Result): void {
    switch (result.is) {
      case 'done':
        return this.#board.done(result.path, result.transcript);
      case 'skipped':
        return this.#board.skipped(result.path, 'already done; --force transcribes it again');
      case 'not_started':
        return this.#board.notStarted(result.path);
      case 'failed':
        return this.#board.failed(result.path, describeError(result.error) + this.#extent(result));
    }
  }

  #extent({ transcript }: Result & { is: 'failed' }): string {
    if (transcript === null) return '';
    const isKept = this.#options.outputs !== null;
    const next = isKept ? ' Run the same command again to continue there.' : '';
    return ` Transcribed up to ${clock(transcript.endMs)}.${next}`;
  }
}

function transcriptOf(result: Result): FileTranscript | null {
  return 'transcript' in result ? result.transcript : null;
}

/** The file that was written, and all of them if there are several formats. */
function outputFields(result: Result, plan: OutputPlan): Record<string, unknown> {
  const isWhole = result.is === 'done' || result.is === 'skipped';
  if (!isWhole && transcriptOf(result) === null) return { output: null };
  const paths = plan.files.map(({ path }) => (isWhole ? path : partialPath(path)));
  return { output: paths[0], ...(paths.length > 1 ? { outputs: paths } : {}) };
}

function errorFields({ error }: Result & { is: 'failed' }): Record<string, string | null> {
  return {
    code: error instanceof InterruptedError ? 'interrupted' : errorCode(error),
    message: describeError(error),
    request_id: error instanceof SvcError ? error.requestId : null,
  };
}
