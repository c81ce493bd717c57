import type { Readable } from 'node:stream';
import { CommanderError, InvalidArgumentError } from 'commander';
import type { Terminal } from './terminal.ts';

export type StandardInput = Readable & { readonly isTTY?: boolean };

/** The environment of a command. */
export interface Context {
  readonly terminal: Terminal;
  readonly stdin: StandardInput;
  readonly env: NodeJS.ProcessEnv;
  /** Aborted by the first Ctrl-C. The second one ends the process. */
  readonly interrupted: AbortSignal;
}

/** Runs a command's work and records its exit status. */
export type RunCommand = (work: (context: Context) => Promise<ExitCode>) => Promise<void>;

/** Documented in `svc --help`. Scripts rely on these values. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  noCredit: 4,
  unavailable: 5,
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The command line or the settings are wrong. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** Ctrl-C ended the work. */
export class InterruptedError extends Error {
  constructor() {
    super('Interrupted.');
    this.name = 'InterruptedError';
  }
}

/** Returns an option parser for whole numbers in a range. */
export function wholeNumber(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (Number.isInteger(number) && number >= min && number <= max) return number;
    throw new InvalidArgumentError(`Use a whole number from ${min} to ${max}.`);
  };
}

/** Help and --version end the program like an error, with exit code 0. */
export function isHelpOrVersion(error: unknown): boolean {
  return error instanceof CommanderError && error.exitCode === 0;
}
