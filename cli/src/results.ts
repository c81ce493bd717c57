import { SvcError } from '@svc-asr/sdk';
import { EXIT, type ExitCode } from './command.ts';
import { describeError, errorCode, exitCodeOf } from './error-messages.ts';
import type { FileTranscript } from './file-transcript.ts';
import { writeOutput, writePartial, partialPath } from './output-files.ts';
import type { ProgressBoard } from './progress-board.ts';
import { clock, type Terminal } from './terminal.ts';
import { jsonFields, render, type Format } from './transcript-formats.ts';

/** How the work on one file ended. A failed file may have a partial transcript. */
export type Result =
  | { readonly is: 'done'; readonly path: string; readonly transcript: FileTranscript }
  | { readonly is: 'skipped'; readonly path: string }
  | {
      readonly is: 'failed';
      readonly path: string;
      readonly error: unknown;
      readonly isInterrupted: boolean;
      readonly transcript: FileTranscript | null;
    };

export interface ResultOptions {
  readonly paths: readonly string[];
  readonly format: Format;
  /** One JSON line per file on standard output. */
  readonly json: boolean;
  /** Output path of each input, or null for standard output. */
  readonly outputs: ReadonlyMap<string, string> | null;
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

  async add(result: Result): Promise<void> {
    this.#results.push(result);
    const output = this.#options.outputs?.get(result.path);
    if (output !== undefined) {
      await this.#writeFile(result, output);
      if (this.#options.json) this.#terminal.print(this.#jsonLine(result, output));
      this.#announce(result);
      return;
    }
    this.#ready.set(result.path, result);
    this.#printInOrder();
  }

  get totals(): {
    done: number;
    failed: number;
    skipped: number;
    audioMs: number;
    chargedMs: number;
  } {
    const count = (is: Result['is']): number =>
      this.#results.filter((each) => each.is === is).length;
    const transcripts = this.#results.flatMap((result) =>
      result.is === 'skipped' ? [] : (result.transcript ?? []),
    );
    return {
      done: count('done'),
      failed: count('failed'),
      skipped: count('skipped'),
      audioMs: transcripts.reduce((sum, { audioMs }) => sum + audioMs, 0),
      chargedMs: transcripts.reduce((sum, { chargedMs }) => sum + chargedMs, 0),
    };
  }

  /** An interruption counts first, then the first failure. */
  get exitCode(): ExitCode {
    const failures = this.#results.filter((result) => result.is === 'failed');
    if (failures.some(({ isInterrupted }) => isInterrupted)) return EXIT.interrupted;
    const [first] = failures;
    return first === undefined ? EXIT.done : exitCodeOf(first.error);
  }

  #printInOrder(): void {
    const { paths, format, json } = this.#options;
    for (let next = paths[this.#printed]; next !== undefined; next = paths[this.#printed]) {
      const result = this.#ready.get(next);
      if (result === undefined) return;
      const transcript = result.is === 'skipped' ? null : result.transcript;
      const title = paths.length === 1 || json ? '' : `── ${next}\n`;
      if (json) this.#terminal.print(this.#jsonLine(result));
      else if (transcript !== null) this.#terminal.print(title + render(format, next, transcript));
      this.#announce(result);
      this.#printed += 1;
    }
  }

  async #writeFile(result: Result, output: string): Promise<void> {
    if (result.is === 'skipped' || result.transcript === null) return;
    const { format } = this.#options;
    const body =
      format === 'json' ? this.#jsonLine(result) : render(format, result.path, result.transcript);
    if (result.is === 'done') await writeOutput(output, body);
    else await writePartial(output, body);
  }

  #jsonLine(result: Result, output?: string): string {
    const { path: file, is: status } = result;
    if (result.is === 'skipped') return JSON.stringify({ file, status, output });
    const { transcript } = result;
    const error = result.is === 'failed' ? { error: errorFields(result) } : {};
    // With -o the transcript is in the file.
    const fields = transcript === null ? {} : jsonFields(transcript);
    if (output === undefined) return JSON.stringify({ file, status, ...error, ...fields });
    const written = result.is === 'done' ? output : transcript && partialPath(output);
    const { audio_ms, charged_ms } = fields;
    return JSON.stringify({ file, status, output: written, ...error, audio_ms, charged_ms });
  }

  #announce(result: Result): void {
    if (result.is === 'done') this.#board.done(result.path, result.transcript);
    else if (result.is === 'skipped') {
      this.#board.skipped(result.path, 'already done; --force transcribes it again');
    } else {
      const { transcript } = result;
      const extent = transcript === null ? '' : ` Transcribed up to ${clock(transcript.endMs)}.`;
      this.#board.failed(result.path, message(result) + extent);
    }
  }
}

function message({ error, isInterrupted }: Result & { is: 'failed' }): string {
  return isInterrupted ? 'Interrupted.' : describeError(error);
}

function errorFields(result: Result & { is: 'failed' }): Record<string, string | null> {
  const { error, isInterrupted } = result;
  return {
    code: isInterrupted ? 'interrupted' : errorCode(error),
    message: message(result),
    request_id: error instanceof SvcError ? error.requestId : null,
  };
}
